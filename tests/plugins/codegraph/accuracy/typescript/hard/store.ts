import DefaultJob, { Job, User } from './model';

export interface Store {
  save(job: unknown): void;
}

export class MemoryStore implements Store {
  private readonly byName: { [name: string]: User } = {};
  private listeners = new Set<(user: User) => void>();

  save(job: unknown): void {
    if (job instanceof Job) job.run(new User());
  }

  get(name: string): User {
    return (this.byName[name] ??= new User());
  }

  notify(): void {
    for (const user of Object.values(this.byName)) {
      user.rename();
    }
  }

  static open(): MemoryStore {
    return new MemoryStore();
  }
}

export { DefaultJob as RenameJob };
