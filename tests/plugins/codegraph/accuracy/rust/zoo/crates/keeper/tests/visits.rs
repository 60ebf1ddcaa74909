use beasts::{Animal, Cat};

fn visitor() -> Cat {
    Cat::create("guest")
}

#[test]
fn a_visitor_speaks() {
    let cat = visitor();
    assert_eq!(cat.speak(), "meow");
}
