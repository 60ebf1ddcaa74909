import { Controller, Get } from './decorators';
import { Logger } from './logger';
import { UserService } from './user.service';

@Controller('/users')
export class UserController {
  constructor(
    private readonly service: UserService,
    private readonly logger: Logger,
  ) {}

  @Get('/:id')
  async show(id: string): Promise<string> {
    const user = await this.service.find(id);
    this.logger.info('show');
    return user.greet();
  }

  @Get()
  async all(): Promise<string[]> {
    const users = await this.service.list();
    return users.map((user) => user.label);
  }
}
