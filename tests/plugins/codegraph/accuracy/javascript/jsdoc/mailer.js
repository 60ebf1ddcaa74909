class Transport {
  open() {}
}

class Mailer {
  /** @param {Transport} transport what carries the mail */
  constructor(transport) {
    /** @type {Transport} */
    this.transport = transport;
  }

  address() {}

  deliver() {
    this.transport.open();
  }
}

module.exports = { Mailer, Transport };
