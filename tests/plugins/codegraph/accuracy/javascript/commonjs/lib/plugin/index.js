const log = require('../log');

function install() {
  log('installed');
}

exports.install = install;
