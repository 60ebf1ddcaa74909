const { slug } = require('./util');

class Store {
  constructor(root) {
    this.root = root;
  }

  save(name) {
    return this.root + '/' + slug(name);
  }
}

module.exports = Store;
