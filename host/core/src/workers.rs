//! Work that hosts share: each claims in the database what is due, and does a few at a time.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Pause between two looks at what is due, while workers are free.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Work that takes longer gives its place to other work: a rail that answers one request in a hundred after 15 s would
/// otherwise occupy a third of the places with those.
const PLACE_TIME_MAX: Duration = Duration::from_secs(1);

/// How much is done at a time.
pub struct Workers {
    pub places: usize,
    /// Including what has given its place away.
    pub under_way_max: usize,
}

impl Workers {
    /// Runs until nothing is due and no work is under way. `claim` takes at most as many as its argument says.
    ///
    /// # Errors
    /// When `claim` fails, after what is under way.
    pub async fn work_off<T, E, C, W>(&self, claim: impl Fn(i64) -> C, work: impl Fn(T) -> W) -> Result<(), E>
    where
        C: Future<Output = Result<Vec<T>, E>>,
        W: Future<Output = ()> + Send + 'static,
    {
        let places = Arc::new(Semaphore::new(self.places));
        // Dropping this aborts them.
        let mut under_way = JoinSet::new();
        loop {
            while under_way.try_join_next().is_some() {}
            if under_way.len() >= self.under_way_max {
                under_way.join_next().await;
                continue;
            }
            // One place at least.
            drop(places.acquire().await);
            let free = places.available_permits().min(self.under_way_max - under_way.len());
            let claimed = claim(i64::try_from(free).unwrap_or(i64::MAX)).await;
            let claimed = match claimed {
                Ok(claimed) => claimed,
                Err(error) => {
                    while under_way.join_next().await.is_some() {}
                    return Err(error);
                }
            };
            if claimed.is_empty() && under_way.is_empty() {
                return Ok(());
            }
            let is_all = claimed.len() < free;
            for it in claimed {
                let (place, work) = (Arc::clone(&places).try_acquire_owned(), work(it));
                under_way.spawn(async move {
                    let mut work = pin!(work);
                    if timeout(PLACE_TIME_MAX, &mut work).await.is_err() {
                        drop(place);
                        work.await;
                    }
                });
            }
            if is_all {
                // Or all are done.
                let _ = timeout(LOOK_EVERY, async { while under_way.join_next().await.is_some() {} }).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use tokio::time::{Instant, sleep};

    /// Does `count` pieces of work, of which the first takes `slow`. Returns when the others were done, and the most
    /// that was claimed at a time.
    async fn work(count: u32, slow: Duration) -> (Duration, i64) {
        let (begun, due, most) = (Instant::now(), Mutex::new((0..count).collect::<Vec<_>>()), Mutex::new(0));
        let done = Arc::new(Mutex::new(Duration::ZERO));
        let workers = Workers { places: 2, under_way_max: 3 };
        let claim = |limit: i64| {
            let (mut due, mut most) = (due.lock().unwrap(), most.lock().unwrap());
            *most = limit.max(*most);
            let length = due.len().min(usize::try_from(limit).unwrap());
            std::future::ready(Ok::<Vec<u32>, ()>(due.drain(..length).collect()))
        };
        let worked = workers.work_off(claim, |it| {
            let done = Arc::clone(&done);
            async move {
                sleep(if it == 0 { slow } else { Duration::from_millis(100) }).await;
                if it > 0 {
                    *done.lock().unwrap() = begun.elapsed();
                }
            }
        });
        worked.await.unwrap();
        assert!(begun.elapsed() >= slow, "it waits for all");
        (*done.lock().unwrap(), *most.lock().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_slow_keeps_one_place_for_a_second() {
        // Ten while it has a place, then two at a time.
        let (done, most) = work(51, Duration::from_secs(45)).await;
        assert!(done < Duration::from_millis(3_100), "{done:?}");
        assert_eq!(most, 2);
    }
}
