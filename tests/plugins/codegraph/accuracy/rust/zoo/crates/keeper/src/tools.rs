pub mod hammer;

pub trait Tool {
    fn apply(&self, force: u32);
}

pub fn clean() {
    fn inner(n: u32) -> u32 {
        if n == 0 {
            code().into()
        } else {
            inner(n - 1)
        }
    }
    inner(3);
}

pub fn shown(n: u32) -> String {
    let n = hammer::measure(n);
    format!("{:>1$}", n, width(n) as usize)
}

fn width(n: u32) -> u32 {
    n
}

pub const fn code() -> u8 {
    1
}
