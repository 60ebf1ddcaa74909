export class User {
  constructor(
    public readonly id: string,
    protected name: string,
  ) {}

  get label(): string {
    return this.name;
  }

  greet(): string {
    return `hello ${this.label}`;
  }
}

export class Admin extends User {
  constructor(id: string) {
    super(id, 'admin');
  }

  override greet(): string {
    return super.greet() + '!';
  }
}
