//! The settings file: what it says counts unless the command line or the environment says otherwise.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use caudal_convert::nearest;
use clap::builder::Command;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory as _, FromArgMatches as _};
use toml::de::{DeTable, DeValue};

use super::{Cli, command_line};

/// What a file can set: everything that `caudal serve` takes from the environment, but no secret.
struct Setting {
    section: String,
    arg: Arg,
}

/// A setting in a file.
pub struct Entry {
    name: String,
    line: usize,
    /// `None` for what is off.
    argument: Option<String>,
}

/// Where the value of a setting comes from.
#[derive(Debug)]
pub struct Shown {
    pub section: String,
    pub name: String,
    pub value: String,
    pub source: String,
}

impl Setting {
    /// By section, in the order of declaration.
    fn all() -> Vec<Self> {
        let mut root = Cli::command();
        root.build();
        let serve = root.find_subcommand("serve").into_iter().flat_map(Command::get_arguments);
        let in_files = serve.filter(|it| it.get_env().is_some() && !it.is_hide_set() && it.get_id() != "config");
        let setting = |arg: &Arg| Self {
            section: arg.get_help_heading().unwrap_or("Service").to_lowercase().replace(' ', "-"),
            arg: arg.clone(),
        };
        let mut sections: Vec<Vec<Self>> = Vec::new();
        for setting in in_files.map(setting) {
            match sections.iter_mut().find(|section| section[0].section == setting.section) {
                Some(section) => section.push(setting),
                None => sections.push(vec![setting]),
            }
        }
        sections.into_iter().flatten().collect()
    }

    fn name(&self) -> &str {
        self.arg.get_long().unwrap_or_default()
    }

    fn is_switch(&self) -> bool {
        !self.arg.get_action().takes_values()
    }

    fn is_list(&self) -> bool {
        self.arg.get_value_delimiter().is_some()
    }

    /// As an argument of the command line.
    fn argument(&self, value: &DeValue<'_>) -> Result<Option<String>, String> {
        let name = self.name();
        if self.is_switch() {
            let is_on = value.as_bool().ok_or_else(|| format!("{name} must be true or false"))?;
            return Ok(is_on.then(|| format!("--{name}")));
        }
        let text = |it: &DeValue<'_>| Some(it.as_str().or(it.as_integer().map(|it| it.as_str()))?.to_owned());
        let value = if self.is_list() {
            let item = |it: &DeValue<'_>| text(it).filter(|it| !it.contains(','));
            let items = value.as_array().map(|items| items.iter().map(|it| item(it.get_ref())).collect());
            let items: Option<Vec<_>> = items.unwrap_or_else(|| Some(vec![item(value)?]));
            items.map(|it| it.join(",")).ok_or_else(|| format!("{name} must be a list of strings without commas"))
        } else {
            text(value).ok_or_else(|| format!("{name} must be a string or a whole number"))
        };
        // A list without items says what is said without it.
        value.map(|value| (!self.is_list() || !value.is_empty()).then(|| format!("--{name}={value}")))
    }

    /// As a line of a file, with what it means.
    fn example(&self) -> String {
        let help = self.arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default = self.arg.get_default_values().first().map(|it| it.to_string_lossy());
        let value = match default {
            _ if self.is_switch() => "false".to_owned(),
            _ if self.is_list() => "[]".to_owned(),
            Some(number) if number.parse::<i64>().is_ok() => number.into_owned(),
            Some(text) => format!("{text:?}"),
            None => "\"\"".to_owned(),
        };
        format!("{}#{} = {value}\n", comment(&help), self.name())
    }
}

/// Longest line of the example.
const LINE_CHARS_MAX: usize = 110;

fn comment(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), "#".to_owned());
    for word in text.split_whitespace() {
        if line.len() + word.len() >= LINE_CHARS_MAX {
            lines.extend([&*line, "\n"]);
            "#".clone_into(&mut line);
        }
        line.extend([" ", word]);
    }
    lines + &line + "\n"
}

/// A file with every setting as a comment.
pub fn example() -> String {
    let mut text = comment(
        "Settings of `caudal serve`, and of every command that takes them. A line without `#` counts, unless the command line or \
         the environment says otherwise. Durations are like 30m, files are named with their path. `caudal config check` finds \
         what is wrong here.",
    );
    let mut last = String::new();
    for setting in Setting::all() {
        if setting.section != last {
            last.clone_from(&setting.section);
            text += &format!("\n[{last}]\n");
        }
        text += &format!("\n{}", setting.example());
    }
    text
}

/// Whether a file may contain a secret. A service manager hands credentials over in files that the group may read.
pub fn is_private(file: &Metadata) -> bool {
    file.mode() & 0o037 == 0
}

/// What a file says.
///
/// # Errors
/// All that is wrong with it, each with its place.
pub fn read(path: &Path) -> Result<Vec<Entry>, Vec<String>> {
    let text = fs::read_to_string(path).map_err(|error| vec![format!("cannot read {}: {error}", path.display())])?;
    let (mut entries, mut flaws) = (Vec::new(), Vec::new());
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let mut flaw = |at: usize, what: String| {
        let column = 1 + text[..at].chars().rev().take_while(|it| *it != '\n').count();
        flaws.push((at, format!("{}:{}:{column}: {what}", path.display(), line(at))));
    };
    let is_private = fs::metadata(path).is_ok_and(|it| is_private(&it));
    let settings = Setting::all();
    let table = match DeTable::parse(&text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            flaw(error.span().map_or(0, |it| it.start), error.message().to_owned());
            DeTable::new()
        }
    };
    for (section, values) in &table {
        let (name, at) = (section.get_ref().as_ref(), section.span().start);
        let Some(values) = values.get_ref().as_table() else {
            flaw(at, format!("{name} stands in no section: {}", place(&settings, name)));
            continue;
        };
        if !settings.iter().any(|it| it.section == name) {
            let sections = settings.iter().map(|it| &*it.section);
            flaw(at, with_advice(format!("there is no section [{name}]"), nearest(name, sections)));
            continue;
        }
        for (key, value) in values {
            let (key, at) = (key.get_ref().as_ref(), key.span().start);
            let Some(setting) = settings.iter().find(|it| it.section == name && it.name() == key) else {
                flaw(at, format!("[{name}] has no setting {key}: {}", place(&settings, key)));
                continue;
            };
            let checked =
                setting.argument(value.get_ref()).and_then(|it| it.map_or(Ok(None), |it| accepted(it).map(Some)));
            match checked {
                Ok(Some(it)) if setting.arg.is_hide_env_values_set() && without_password(&it) != it && !is_private => {
                    let file = path.display();
                    flaw(
                        at,
                        format!(
                            "others can read the password in {key}: put it in ~/.pgpass, or run `chmod 600 {file}`"
                        ),
                    );
                }
                Ok(argument) => entries.push(Entry { name: key.to_owned(), line: line(at), argument }),
                Err(why) => flaw(value.span().start, why),
            }
        }
    }
    flaws.sort();
    if flaws.is_empty() { Ok(entries) } else { Err(flaws.into_iter().map(|(_, what)| what).collect()) }
}

fn with_advice(what: String, advice: Option<String>) -> String {
    advice.map_or(what.clone(), |advice| format!("{what}: {advice}"))
}

/// Where a setting belongs, or what was meant by one that does not exist.
fn place(settings: &[Setting], name: &str) -> String {
    if let Some(setting) = settings.iter().find(|it| it.name() == name) {
        return format!("it belongs in [{}]", setting.section);
    }
    let by_variable = settings.iter().find(|it| it.arg.get_env().is_some_and(|variable| variable == name));
    if let Some(setting) = by_variable {
        return format!("write {} in [{}]", setting.name(), setting.section);
    }
    if Cli::command().find_subcommand("serve").is_some_and(|it| {
        let of_policy = it.get_arguments().filter(|arg| arg.get_help_heading() == Some("Policy in the sandbox"));
        of_policy.into_iter().any(|arg| arg.get_long() == Some(name))
    }) {
        return format!("all hosts share it, so it is set with `caudal policy set --{name}`");
    }
    let file = settings.iter().map(Setting::name).find(|it| it.strip_suffix("-file") == Some(name));
    if let Some(file) = file {
        return format!("it is a secret, for which {file} names a file");
    }
    nearest(name, settings.iter().map(Setting::name))
        .unwrap_or_else(|| "`caudal config example` has all of them".to_owned())
}

/// An argument of `caudal serve` that has a valid value.
fn accepted(argument: String) -> Result<String, String> {
    match command_line().try_get_matches_from(["caudal", "serve", &argument]) {
        // Whether it takes another one is seen when all of them are known.
        Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).lines().take_while(|line| !line.is_empty());
            Err(text.map(str::trim).collect::<Vec<_>>().join(" ").replace("--", ""))
        }
        _ => Ok(argument),
    }
}

/// A file's settings as arguments of `caudal serve`.
///
/// # Errors
/// That one takes another one.
pub fn as_served(entries: Vec<Entry>) -> Result<ArgMatches, clap::Error> {
    let arguments = entries.into_iter().filter_map(|it| it.argument);
    command_line().try_get_matches_from(["caudal".to_owned(), "serve".to_owned()].into_iter().chain(arguments))
}

/// Reads the command line and the settings file. Exits with a message if one of them is not valid.
pub fn read_all() -> (Cli, Vec<Shown>) {
    let (matches, shown) = layered(std::env::args_os().collect()).unwrap_or_else(|error| error.exit());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command_line()).exit());
    (cli, shown)
}

/// A command line with what the settings file adds to it, and for `caudal config show` where each value comes from.
///
/// # Errors
/// What is wrong with either.
fn layered(mut arguments: Vec<OsString>) -> Result<(ArgMatches, Vec<Shown>), clap::Error> {
    let given = match command_line().try_get_matches_from(&arguments) {
        // The file may have what is missing.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            command_line().ignore_errors(true).try_get_matches_from(&arguments)?
        }
        matches => matches?,
    };
    let mut command = command_line();
    command.build();
    let (mut command, mut leaf, mut names) = (&command, &given, Vec::new());
    while let Some((name, matches)) = leaf.subcommand() {
        names.push(name);
        (command, leaf) = (command.find_subcommand(name).unwrap_or(command), matches);
    }
    let path = given.get_one::<PathBuf>("config").filter(|_| !matches!(names[..], ["config", "check" | "example"]));
    let read = path.map(|path| read(path)).transpose();
    let entries = read.map_err(|flaws| clap::Error::raw(ErrorKind::ValueValidation, flaws.join("\n") + "\n"))?;
    let entries = entries.unwrap_or_default();
    let is_given = |arg: &Arg| {
        matches!(leaf.value_source(arg.get_id().as_str()), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let is_added =
        |entry: &&Entry| command.get_arguments().any(|arg| arg.get_long() == Some(&entry.name) && !is_given(arg));
    let added: Vec<_> =
        entries.iter().filter(is_added).filter_map(|it| it.argument.clone()).map(OsString::from).collect();
    let end = arguments.iter().position(|it| it == "--").unwrap_or(arguments.len());
    arguments.splice(end..end, added);
    let matches = command_line().try_get_matches_from(&arguments)?;
    let shown = match (&names[..], matches.subcommand().and_then(|(_, it)| it.subcommand())) {
        (["config", "show"], Some((_, all))) => shown(leaf, all, &entries, path),
        _ => Vec::new(),
    };
    Ok((matches, shown))
}

fn shown(given: &ArgMatches, all: &ArgMatches, entries: &[Entry], path: Option<&PathBuf>) -> Vec<Shown> {
    let row = |setting: Setting| {
        let id = setting.arg.get_id().as_str();
        let value = match all.get_raw(id) {
            _ if setting.is_switch() => all.get_flag(id).to_string(),
            Some(values) => values.map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(","),
            None => "-".to_owned(),
        };
        let source = match (given.value_source(id), entries.iter().find(|it| it.name == setting.name()), path) {
            (Some(ValueSource::CommandLine), ..) => "command line".to_owned(),
            (Some(ValueSource::EnvVariable), ..) => {
                setting.arg.get_env().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
            }
            (_, Some(entry), Some(path)) => format!("{}:{}", path.display(), entry.line),
            _ => "default".to_owned(),
        };
        let value = if setting.arg.is_hide_env_values_set() { without_password(&value) } else { value };
        Shown { name: setting.name().to_owned(), section: setting.section, value, source }
    };
    Setting::all().into_iter().map(row).collect()
}

/// A URL as it may be shown.
fn without_password(url: &str) -> String {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let (login, host) = rest.rsplit_once('@')?;
        Some((scheme, login.split_once(':')?.0, host))
    });
    parts.map_or_else(|| url.to_owned(), |(scheme, user, host)| format!("{scheme}://{user}:***@{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://ana:p:a@ss@db/bank", "postgres://ana:***@db/bank"),
            ("postgres://ana@db/bank", "postgres://ana@db/bank"),
            ("postgres://db/bank", "postgres://db/bank"),
            ("-", "-"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
