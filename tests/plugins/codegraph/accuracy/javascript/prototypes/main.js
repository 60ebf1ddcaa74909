// Classes as they were written before there were classes.
var util = require('util');

function Animal(name) {
  this.name = name;
  this.reset();
}

Animal.prototype.reset = function () {
  this.tired = 0;
};

Animal.prototype.speak = function () {
  return this.name + ' ' + this.sound();
};

Animal.prototype.sound = function () {
  return '...';
};

Animal.of = function (name) {
  return new Animal(name);
};

function Dog(name) {
  Animal.call(this, name);
}

util.inherits(Dog, Animal);

Dog.prototype.fetch = function () {
  return this.speak();
};

var Queue = function () {
  this.items = [];
};

Queue.prototype = {
  put: function (item) {
    if (this.size() > 10) this.grow();
    this.items.push(item);
  },
  size() {
    return this.items.length;
  },
  grow: function () {},
};

function main() {
  var animal = new Animal('cat');
  animal.speak();
  var dog = new Dog('rex');
  dog.fetch();
  Animal.of('x').speak();
  var queue = new Queue();
  queue.put(1);
  queue.size();
}

main();
