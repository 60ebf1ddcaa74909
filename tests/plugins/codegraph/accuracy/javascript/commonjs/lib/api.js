const util = require('./util');

exports.get = function (path) {
  return exports.send(path, null);
};

module.exports.send = (path, body) => util.pad(path);
