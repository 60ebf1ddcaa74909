import { Logger } from './logger';
import type { Repository } from './repository';
import { User } from './user';

export class UserService {
  private cache: Map<string, User> = new Map();

  constructor(
    private users: Repository<User>,
    private logger: Logger,
  ) {}

  async find(id: string): Promise<User> {
    const known = this.cached(id);
    if (known) return known;
    const found = await this.users.byId(id);
    this.logger.info(id);
    return found ?? new User(id, 'nobody');
  }

  async list(): Promise<User[]> {
    return this.users.all();
  }

  private cached(id: string): User | undefined {
    if (this.logger.level > 3) return undefined;
    return this.cache.get(id);
  }
}
