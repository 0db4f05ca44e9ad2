//! Seeded mutations of bytes: flips, numbers, pieces of other inputs, words of a format, and JSON values.

use serde_json::Value;

use crate::random::Random;

/// Pieces of a format that chance would hardly find.
pub(crate) type Words = &'static [&'static [u8]];

/// Numbers at which code decides.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "255",
    "256",
    "65536",
    "2147483648",
    "9007199254740991",
    "9223372036854775807",
    "1e400",
    "-0.0",
    "0.01",
];

/// Mutations of one input, at most.
const DEPTH_MAX: u64 = 6;

pub(crate) struct Mutator {
    random: Random,
    words: Words,
    bytes_max: usize,
}

impl Mutator {
    pub(crate) fn new(seed: u64, words: Words, bytes_max: usize) -> Self {
        Self { random: Random::new(seed), words, bytes_max }
    }

    /// At least 0, below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.random.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn mutate(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        let mut input = pool[self.below(pool.len())].clone();
        for _ in 0..1 + self.random.next() % DEPTH_MAX {
            self.step(&mut input, pool);
        }
        input.truncate(self.bytes_max);
        input
    }

    fn step(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        match self.below(11) {
            0 => self.with_byte(input, |byte, random| *byte ^= 1 << (random % 8)),
            1 => self.with_byte(input, |byte, random| *byte = random as u8),
            2 => self.with_byte(input, |byte, random| *byte = byte.wrapping_add((random % 5) as u8).wrapping_sub(2)),
            3 => input.insert(at, self.random.next() as u8),
            4 => drop(input.drain(at..(at + 1 + self.below(8)).min(input.len()).max(at))),
            5 => {
                // A piece again, some times over.
                let piece = input[at..(at + self.below(16)).min(input.len())].repeat(1 + self.below(4));
                input.splice(at..at, piece);
            }
            6 => {
                let other = &pool[self.below(pool.len())];
                let (from, to) = (self.below(other.len() + 1), self.below(other.len() + 1));
                input.splice(at.., other[from.min(to)..from.max(to)].iter().copied());
            }
            7 if !self.words.is_empty() => {
                let words = self.words;
                let word = words[self.below(words.len())];
                let end = if self.below(2) == 0 { at } else { (at + word.len()).min(input.len()) };
                input.splice(at..end, word.iter().copied());
            }
            8 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                // In place of one that is there.
                let digits = |byte: &u8| byte.is_ascii_digit();
                let start = input.iter().skip(at).position(digits).map_or(at, |skipped| at + skipped);
                let end = start + input[start..].iter().take_while(|byte| digits(byte)).count();
                input.splice(start..end, number.bytes());
            }
            9 => self.json(input, pool),
            _ => input.truncate(at),
        }
    }

    fn with_byte(&mut self, input: &mut [u8], change: impl Fn(&mut u8, u64)) {
        let (at, random) = (self.below(input.len()), self.random.next());
        if let Some(byte) = input.get_mut(at) {
            change(byte, random);
        }
    }

    /// Replaces, removes or copies a member of an object, if the input is one.
    fn json(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        // Something else may come first.
        let start = input.iter().position(|byte| b"{[".contains(byte)).unwrap_or(input.len());
        let Ok(mut value) = serde_json::from_slice::<Value>(&input[start..]) else { return };
        let other = serde_json::from_slice(&pool[self.below(pool.len())]).unwrap_or(Value::Null);
        let choice = self.below(7);
        let place = self.place(&mut value, 4);
        *place = match choice {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => Value::from(self.random.next() as i64),
            3 => Value::String(NUMBERS[self.below(NUMBERS.len())].to_owned()),
            4 => Value::Array(vec![place.clone(), other]),
            // The same by position rather than by name.
            5 => match place {
                Value::Object(members) => members.values().cloned().collect(),
                _ => other,
            },
            _ => other,
        };
        input.truncate(start);
        input.extend(serde_json::to_vec(&value).unwrap());
    }

    /// A value somewhere inside, or the whole.
    fn place<'a>(&mut self, value: &'a mut Value, depth: u32) -> &'a mut Value {
        let count = match &*value {
            Value::Object(members) => members.len(),
            Value::Array(items) => items.len(),
            _ => 0,
        };
        if count == 0 || depth == 0 || self.below(4) == 0 {
            return value;
        }
        let at = self.below(count);
        match value {
            Value::Object(members) => self.place(members.values_mut().nth(at).unwrap(), depth - 1),
            Value::Array(items) => self.place(&mut items[at], depth - 1),
            other => other,
        }
    }
}
