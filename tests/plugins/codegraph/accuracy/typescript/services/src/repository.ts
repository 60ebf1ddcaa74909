export interface Repository<T> {
  byId(id: string): Promise<T | undefined>;
  all(): Promise<T[]>;
}

export class MemoryRepository<T> implements Repository<T> {
  private rows = new Map<string, T>();

  async byId(id: string): Promise<T | undefined> {
    return this.rows.get(id);
  }

  async all(): Promise<T[]> {
    return [...this.rows.values()];
  }
}
