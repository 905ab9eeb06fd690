//! Same in, same out: bits equal twice, on any number of threads, and after saving and going on.

use sinew::prelude::*;

fn short_scene() -> Scene {
    Scene { seconds: 0.25, ..sinew::zoo::jelly_torus() }
}

fn hash_with_threads(threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let mut player = Player::build(&short_scene()).expect("a sound scene");
        player.play(&mut [], |_| {}).expect("plays");
        player.state.hash()
    })
}

#[test]
fn the_bits_are_the_same_on_1_2_and_5_threads_and_twice() {
    let first = hash_with_threads(1);
    for threads in [1, 2, 5] {
        assert_eq!(hash_with_threads(threads), first, "{threads} threads");
    }
}

#[test]
fn a_saved_and_resumed_run_ends_with_the_same_bits() {
    let scene = short_scene();
    let mut whole = Player::build(&scene).expect("a sound scene");
    whole.play(&mut [], |_| {}).expect("plays");

    let mut first = Player::build(&scene).expect("a sound scene");
    for _ in 0..6 {
        first.advance().expect("holds");
    }
    let saved = Checkpoint::of(&first.state).as_bytes().to_vec();
    let mut second = Player::build(&scene).expect("a sound scene");
    second.state = Checkpoint::from_bytes(saved).restore(&second.model).expect("a sound checkpoint");
    for _ in 6..second.frame_count() {
        second.advance().expect("holds");
    }
    assert_eq!(second.state.hash(), whole.state.hash());
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let scene = short_scene();
    let player = Player::build(&scene).expect("a sound scene");
    let saved = Checkpoint::of(&player.state).as_bytes().to_vec();
    for place in [0, 9, 17, 30, 100, saved.len() - 1] {
        let mut damaged = saved.clone();
        damaged[place] ^= 1;
        assert!(Checkpoint::from_bytes(damaged).restore(&player.model).is_err(), "byte {place}");
    }
    for length in [0, 7, 24, 47, saved.len() - 8] {
        assert!(Checkpoint::from_bytes(saved[..length].to_vec()).restore(&player.model).is_err());
    }
}
