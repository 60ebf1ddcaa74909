use beasts::kinds::{chorus, pair, Speaker};
use beasts::{food::Food, Animal, Cat, Hound, Named as _};
use std::fmt;

mod tools;

use tools::{self as kit, Tool};

macro_rules! twice {
    ($e:expr) => {
        ($e, $e)
    };
}

type Outcome<T> = Result<T, Trouble>;

#[derive(Debug)]
enum Trouble {
    Hungry(beasts::Hunger),
    Tired,
}

impl From<beasts::Hunger> for Trouble {
    fn from(hunger: beasts::Hunger) -> Self {
        Trouble::Hungry(hunger.grow())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Trouble::Hungry(hunger) => write!(f, "{}", hunger.grow().since),
            Trouble::Tired => f.write_str(tired()),
        }
    }
}

fn tired() -> &'static str {
    "tired"
}

struct Keeper {
    tool: Box<dyn Tool>,
    cats: Vec<Cat>,
}

impl Keeper {
    fn feed(&mut self) -> Outcome<u32> {
        let food = Food::new(10);
        let mut sum = 0;
        for cat in self.cats.iter_mut() {
            let meal = cat.eat(&food)?;
            sum += meal.size();
        }
        let first = &self.cats[0];
        first.name();
        self.tool.apply(sum);
        kit::clean();
        Ok(sum)
    }

    fn run(self) -> Outcome<()> {
        let Keeper { mut cats, tool } = self;
        tool.apply(0);
        let (a, _b) = pair(cats.remove(0), Hound::create("rex"));
        a.shout();
        while let Some(cat) = cats.pop() {
            cat.fall();
        }
        twice!(tired());
        Err(Trouble::Tired)
    }
}

fn main() {
    let hound = <Hound as Animal>::create("rex");
    let _bones = Hound::play(&hound);
    let tool = kit::hammer::Hammer::default();
    let mut keeper = Keeper { tool: Box::new(tool), cats: vec![Cat::new("a"), Cat::create("b")] };
    match keeper.feed() {
        Ok(n) => println!("{}", kit::shown(n)),
        Err(trouble) => eprintln!("{trouble}"),
    }
    let voices: Vec<Box<dyn Speaker>> = vec![Box::new(Cat::new("c"))];
    let _ = chorus(&voices);
    if keeper.run().is_err() {
        std::process::exit(kit::code().into());
    }
}
