module.exports = function legacy(name) {
  return { close() {} };
};
