function mixed() {}

mixed.extra = function () {};

module.exports = mixed;
