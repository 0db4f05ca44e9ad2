//! Lines in the log, which name the request that they belong to.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use hyper::Method;
use tracing::{Event, Instrument as _, Span, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;
use uuid::Uuid;

use super::spans;

tokio::task_local! {
    /// A span would be formatted for every request; this is for those that log something.
    static REQUEST: Current;
}

struct Current {
    method: Method,
    /// A path may be anything, so lines name the route.
    route: OnceCell<Cow<'static, str>>,
    id: Uuid,
    span: Span,
}

/// Runs `work` in the span of its request, which its lines in the log name too.
pub async fn in_request<T>(method: Method, id: Uuid, span: Span, work: impl Future<Output = T>) -> T {
    let work = work.instrument(span.clone());
    REQUEST.scope(Current { method, route: OnceCell::new(), id, span }, work).await
}

/// Names the route of the current request, from now on in the log and in its span.
pub fn set_route(route: impl Into<Cow<'static, str>>) {
    // Fails outside of a request.
    let _ = REQUEST.try_with(|Current { method, route: current, span, .. }| {
        let route = current.get_or_init(|| route.into());
        if !span.is_disabled() {
            spans::set_route(span, method, route);
        }
    });
}

/// The usual format, followed by the request.
pub struct Lines(Format);

impl Lines {
    pub fn new(color: bool) -> Self {
        Self(Format::default().with_ansi(color))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N> for Lines {
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(line.trim_end_matches('\n'))?;
        let request = REQUEST.try_with(|Current { method, route, id, .. }| {
            let route = route.get().map_or("", |route| route);
            write!(writer, " method={method} route={route} request_id={id}")
        });
        request.unwrap_or(Ok(()))?;
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn lines_of_a_request_name_it_and_others_do_not() {
        let written = Written::default();
        let into = written.clone();
        let log = tracing_subscriber::fmt().event_format(Lines::new(false)).with_writer(move || into.clone()).finish();
        let _log = tracing::subscriber::set_default(log);
        tracing::info!(count = 1, "before");
        let work = async {
            tracing::info!("early");
            set_route("/ai/risk");
            tracing::warn!("late");
        };
        in_request(Method::POST, Uuid::nil(), Span::none(), work).await;
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let [before, early, late] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(before.ends_with("before count=1"), "{before}");
        assert!(early.ends_with(&format!("early method=POST route= request_id={}", Uuid::nil())), "{early}");
        assert!(late.contains(" WARN ") && late.contains("late method=POST route=/ai/risk request_id="), "{late}");
    }
}
