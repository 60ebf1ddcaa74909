module.exports = lazy;

function lazy() {}
