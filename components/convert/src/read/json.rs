//! JSON with the path of each value.

use serde_json::Value;

use super::{Raw, Trained, portable, unknown, xgboost};
use crate::error::{Error, Result};

pub(crate) fn read(text: &str) -> Result<(&'static str, Trained)> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        Error::model(place, "not JSON, in which infinity is the string \"Infinity\"; save the model again")
    })?;
    let json = Json { value: &value, path: String::new() };
    if value.get("learner").is_some() {
        return Ok(("XGBoost", xgboost::read(&json)?));
    }
    if value.get("format").and_then(Value::as_str) == Some(portable::FORMAT) {
        return Ok((portable::FORMAT, portable::read(&json)?));
    }
    if value.get("tree_info").is_some() {
        return Err(Error::model("tree_info", "a LightGBM dump; save the model with save_model(\"model.txt\")"));
    }
    Err(unknown())
}

pub(crate) struct Json<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Json<'a> {
    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error::model(self.path.clone(), problem)
    }

    pub(crate) fn maybe(&self, name: &str) -> Option<Json<'a>> {
        self.value.get(name).filter(|value| !value.is_null()).map(|value| Json { value, path: self.path(name) })
    }

    pub(crate) fn field(&self, name: &str) -> Result<Json<'a>> {
        self.maybe(name).ok_or_else(|| Error::model(self.path(name), "missing; save the model again"))
    }

    pub(crate) fn items(&self) -> Result<Vec<Json<'a>>> {
        let array = self.value.as_array().ok_or_else(|| self.error("not an array"))?;
        let item = |(at, value)| Json { value, path: format!("{}[{at}]", self.path) };
        Ok(array.iter().enumerate().map(item).collect())
    }

    pub(crate) fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.error("not a string"))
    }

    /// A number, which may be in a string.
    pub(crate) fn number(&self) -> Result<f64> {
        let number = self.value.as_f64().or_else(|| self.value.as_str()?.parse().ok());
        number.filter(|number: &f64| number.is_finite()).ok_or_else(|| self.error("not a number"))
    }

    /// The numbers of an array, some of which may be in strings; true is 1 and false 0.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>> {
        let array = self.value.as_array().ok_or_else(|| self.error("not an array"))?;
        let number = |(at, value): (usize, &Value)| {
            value
                .as_f64()
                .or_else(|| value.as_bool().map(f64::from))
                .or_else(|| value.as_str()?.parse().ok())
                .ok_or_else(|| Error::model(format!("{}[{at}]", self.path), "not a number"))
        };
        array.iter().enumerate().map(number).collect()
    }

    /// The array of a field, of a known length.
    pub(crate) fn column(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        let field = self.field(name)?;
        let numbers = field.numbers()?;
        if numbers.len() == length {
            return Ok(numbers);
        }
        Err(field.error(format!("{} numbers instead of {length}", numbers.len())))
    }

    /// The nodes of a tree in arrays with the names of: column, threshold, left, right, value, cover.
    pub(crate) fn nodes(
        &self,
        names: [&str; 6],
        missing_left: Option<&str>,
        threshold: impl Fn(f64) -> f64,
    ) -> Result<Vec<Raw>> {
        let count = self.field(names[0])?.numbers()?.len();
        let arrays = names.map(|name| self.column(name, count)).into_iter().collect::<Result<Vec<_>>>()?;
        let missing_left = missing_left.map(|name| self.column(name, count)).transpose()?;
        let node = |at: usize| {
            let number = |array: usize| arrays[array][at];
            // A leaf has no column, or no children.
            if number(0) < 0.0 || number(2) < 0.0 {
                return Raw::Leaf { value: number(4), cover: number(5) };
            }
            Raw::Split {
                column: number(0) as usize,
                threshold: threshold(number(1)),
                missing_left: missing_left.as_ref().is_some_and(|left| left[at] != 0.0),
                left: number(2) as usize,
                right: number(3) as usize,
            }
        };
        Ok((0..count).map(node).collect())
    }
}
