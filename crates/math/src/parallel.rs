//! Work on disjoint parts of slices: on one thread where there is little of it, on all threads elsewhere.
//!
//! What a part is depends on the length of the work alone, never on the number of threads, so that a task sees the same numbers on every machine. Tasks
//! write to their own part; sums over parts are left to the caller, in a fixed order.

/// Runs work on a thread of the pool: where the caller is none of them, each loop over parts within it would wake one and wait for it, some 10 µs each time.
pub fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() || rayon::current_num_threads() == 1 {
        return work();
    }
    rayon::scope(|_| work())
}

/// Something that can be taken apart at an item: a slice, or several of them side by side.
pub trait Parts: Sized + Send {
    /// How many items there are.
    fn count(&self) -> usize;

    /// The first items, and the others.
    fn split(self, at: usize) -> (Self, Self);
}

impl<T: Send> Parts for &mut [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<T: Sync> Parts for &[T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<A: Parts, B: Parts> Parts for (A, B) {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let ((a, rest_a), (b, rest_b)) = (self.0.split(at), self.1.split(at));
        ((a, b), (rest_a, rest_b))
    }
}

impl<A: Parts, B: Parts, C: Parts> Parts for (A, B, C) {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let ((a, rest_a), (b, rest_b), (c, rest_c)) = (self.0.split(at), self.1.split(at), self.2.split(at));
        ((a, b, c), (rest_a, rest_b, rest_c))
    }
}

/// Calls `work` with the index of the first item and the items of every part of `length` items (the last may be shorter): in order on this thread if there is one
/// part or one thread, on all threads otherwise.
pub fn for_each_part<P: Parts>(items: P, length: usize, work: impl Fn(usize, P) + Sync) {
    for_each_part_of_many(items, (length, length), work);
}

/// The same parts of `length` items, in order on this thread if there are no more than `few` items: waking another thread costs some 10 µs where this one is not of the pool.
pub fn for_each_part_of_many<P: Parts>(
    items: P,
    (length, few): (usize, usize),
    work: impl Fn(usize, P) + Sync,
) {
    let length = length.max(1);
    if items.count() > few.max(length) && rayon::current_num_threads() > 1 {
        return halve(items, 0, length, &work);
    }
    let (mut rest, mut first) = (items, 0);
    while rest.count() > length {
        let (part, others) = rest.split(length);
        work(first, part);
        (rest, first) = (others, first + length);
    }
    if rest.count() > 0 {
        work(first, rest);
    }
}

fn halve<P: Parts>(items: P, first: usize, length: usize, work: &(impl Fn(usize, P) + Sync)) {
    let count = items.count();
    if count <= length {
        return work(first, items);
    }
    let middle = (count / 2).next_multiple_of(length);
    let (left, right) = items.split(middle);
    rayon::join(|| halve(left, first, length, work), || halve(right, first + middle, length, work));
}

/// Calls `work` with every task: on this thread if there is one task or one thread, on all threads otherwise.
pub fn for_each_task<T: Send>(tasks: Vec<T>, work: impl Fn(T) + Sync) {
    let mut tasks: Vec<Option<T>> = tasks.into_iter().map(Some).collect();
    for_each_part(tasks.as_mut_slice(), 1, |_, part| {
        part.iter_mut().filter_map(Option::take).for_each(&work)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every item is seen once, in parts that begin at multiples of their length, on one thread as on several.
    #[test]
    fn parts_are_the_same_on_any_number_of_threads() {
        let run = |threads: usize, count: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (numbers, mut firsts) = ((0..count).collect::<Vec<usize>>(), vec![usize::MAX; count]);
            pool.install(|| {
                for_each_part((numbers.as_slice(), firsts.as_mut_slice()), 7, |first, (numbers, firsts)| {
                    assert!(first % 7 == 0 && numbers.len() <= 7 && numbers[0] == first);
                    firsts.fill(first);
                });
            });
            firsts
        };
        for count in [0, 1, 7, 8, 14, 100, 105] {
            let wanted: Vec<usize> = (0..count).map(|i| i / 7 * 7).collect();
            assert_eq!(run(1, count), wanted);
            assert_eq!(run(4, count), wanted);
        }
    }
}
