export class Logger {
  private sink: string[] = [];

  constructor(private readonly prefix: string) {}

  get level(): number {
    return this.sink.length;
  }

  info(text: string): void {
    this.write(`${this.prefix} ${text}`);
  }

  child(prefix: string): Logger {
    return new Logger(prefix);
  }

  private write(text: string): void {
    this.sink.push(text);
  }
}
