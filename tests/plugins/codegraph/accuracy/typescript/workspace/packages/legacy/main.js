module.exports = { legacy };

function legacy() {}
