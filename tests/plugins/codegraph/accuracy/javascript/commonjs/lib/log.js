module.exports = function log(text) {
  console.log(text);
};
