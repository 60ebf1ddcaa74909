const settings = {
  source: {
    open() {
      return {};
    },
  },
  read() {
    return this.source.open();
  },
};

export default settings;
