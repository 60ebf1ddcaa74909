import { Logger } from './logger';
import { MemoryRepository } from './repository';
import { User } from './user';
import { UserController } from './user.controller';
import { UserService } from './user.service';

async function bootstrap(): Promise<void> {
  const logger = new Logger('app');
  const service = new UserService(new MemoryRepository<User>(), logger);
  const controller = new UserController(service, logger);
  await controller.show('1');
}

void bootstrap();
