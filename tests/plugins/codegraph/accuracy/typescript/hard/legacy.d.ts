declare function legacy(name: string): legacy.Handle;
declare namespace legacy {
  interface Handle {
    close(): void;
  }
}
export = legacy;
