//! One second of the dancer's motion after its preroll, without contact.

use super::{Labels, Row, Second, TRIES, solve_of};
use crate::failure::Failure;
use cpu_time::ThreadTime;
use sinew_sim::{ImplicitSettings, Solver};
use sinew_take::{PlayError, Player, Scene};
use sinew_zoo::dancer;

pub(super) fn measure(labels: Labels, settings: ImplicitSettings) -> Result<Row, Failure> {
    // the dancer without contact
    let mut scene = Scene { solver: Solver::Implicit(settings), ..dancer(8_600, 0.0097) };
    scene.world.obstacles.clear();
    scene.obstacle_motions.clear();
    scene.world.contact.self_contact.clear();
    scene.world.contact.between_bodies = false;
    let mut player = Player::build(&scene)?;

    // the first step twice: the first time also sets up the solver
    let begin = ThreadTime::now();
    let start = player.bookmark();
    player.advance().map_err(PlayError::Step)?;
    let first = begin.elapsed().as_secs_f64();
    player.resume_from(&start).map_err(Failure::input)?;
    let begin = ThreadTime::now();
    player.advance().map_err(PlayError::Step)?;
    let again = begin.elapsed().as_secs_f64();
    player.resume_from(&start).map_err(Failure::input)?;

    // the second after the preroll, the fastest of a few tries
    player.preroll(|_, _| ()).map_err(PlayError::Step)?;
    let start = player.bookmark();
    let mut best = Second::LONGEST;
    for _ in 0..TRIES {
        player.resume_from(&start).map_err(Failure::input)?;
        let mut second = Second::default();
        for _ in 0..60 {
            let begin = ThreadTime::now();
            let report = player.advance().map_err(PlayError::Step)?;
            second.add(begin.elapsed().as_secs_f64(), &solve_of(&report)?);
        }
        best = best.or_faster(second);
    }
    Ok(best.row(labels, player.model.elements().count(), first - again))
}
