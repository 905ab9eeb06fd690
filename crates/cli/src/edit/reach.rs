//! `sinew edit NAME.take reach`: finds the magnitude of a control metaphor that reaches a wanted displacement.

use super::{Edit, Simulation};
use crate::failure::Failure;
use crate::run::Run;
use crate::threads::thread_pool;
use clap::Args;
use sinew_io::{metaphor_start, scale_metaphor};
use sinew_sim::desc::MetaphorKind;
use sinew_take::{MagnitudeError, MagnitudeGoal, MagnitudeReport};
use sinew_zoo::source;

#[derive(Args)]
pub(crate) struct Reach {
    /// The metaphor, by its name.
    #[arg(long, value_name = "NAME")]
    metaphor: String,

    /// The frame at which the displacement is wanted.
    #[arg(long, value_name = "K")]
    frame: usize,

    /// By how much a stretch is to lengthen what it acts on, a bend to displace its middle, or a push to dent it (m); below 0 the other way.
    #[arg(
        long,
        value_name = "M",
        allow_negative_numbers = true,
        required_unless_present = "angle",
        conflicts_with = "angle"
    )]
    displacement: Option<f64>,

    /// By how much a twist is to turn one side against the other (degrees).
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    angle: Option<f64>,

    #[command(flatten)]
    simulation: Simulation,
}

impl Edit {
    /// Searches for the magnitude, and makes a version with it.
    pub(super) fn reach(&self, reach: &Reach) -> Result<(), Failure> {
        // the take from where the metaphor begins to act
        let editor = self.editor()?;
        let take = editor.take();
        let edits = take.history().head().edits.clone();
        let scene = source::reopen_edited(take, &edits)?.scene;
        let (name, frame) = (reach.metaphor.as_str(), reach.frame);
        let unknown = || Failure::input(format!("there is no metaphor '{name}' before frame {frame}"));
        let first = metaphor_start(&scene, name, frame).ok_or_else(unknown)?;
        let start = take.bookmark_at(first)?.ok_or_else(|| {
            Failure::input(format!("frame {first} is not recorded yet: simulate the take first"))
        })?;

        // the search
        let pool = thread_pool(reach.simulation.threads)?;
        let goal = MagnitudeGoal { metaphor: name.to_owned(), response: reach.response(), frame };
        let found = pool.install(|| -> Result<(MagnitudeReport, MetaphorKind), Failure> {
            let mut run = Run::build(&scene)?;
            take.check_model(run.player.first_model())?;
            let found = run.player.find_magnitude(&start, &goal).map_err(failure)?;
            let own = run.player.model.metaphors().iter().find(|own| own.name == name);
            Ok((found, own.ok_or_else(unknown)?.kind))
        });
        let (found, kind) = found?;
        reach.check_unit(kind)?;
        if !found.is_reached {
            return Err(Failure::Simulation(out_of_reach(&goal, kind, &found)));
        }
        tell!(
            "{} by {} simulations: its magnitude is multiplied by {:.4}",
            response_words(kind, found.response),
            found.tries,
            found.factor
        );
        let edits = scale_metaphor(&edits, &scene, (name, frame), found.factor).map_err(Failure::input)?;
        self.set_edits(editor, edits, &reach.simulation)
    }
}

impl Reach {
    /// The response that is wanted: m, for a twist rad.
    fn response(&self) -> f64 {
        self.displacement.or(self.angle.map(f64::to_radians)).unwrap_or_default()
    }

    /// Rejects an angle of anything but a twist, and a displacement of one.
    fn check_unit(&self, kind: MetaphorKind) -> Result<(), Failure> {
        match (kind == MetaphorKind::Twist, self.angle.is_some()) {
            (true, false) => Err(Failure::input("a twist turns: give the --angle (degrees) that is wanted")),
            (false, true) => {
                let what = format!("a {} displaces: give the --displacement (m) that is wanted", kind.name());
                Err(Failure::input(what))
            }
            _ => Ok(()),
        }
    }
}

/// What a metaphor has done, in words.
pub(crate) fn response_words(kind: MetaphorKind, response: f64) -> String {
    match kind {
        MetaphorKind::Twist => format!("twisted by {:.1}°", response.to_degrees()),
        MetaphorKind::Stretch if response < 0.0 => format!("compressed by {:.2} cm", -100.0 * response),
        MetaphorKind::Stretch => format!("stretched by {:.2} cm", 100.0 * response),
        MetaphorKind::Bend => format!("bent by {:.2} cm", 100.0 * response),
        MetaphorKind::Push => format!("pushed by {:.2} cm", 100.0 * response),
    }
}

fn out_of_reach(goal: &MagnitudeGoal, kind: MetaphorKind, found: &MagnitudeReport) -> String {
    let limit =
        found.too_strong.map_or(String::new(), |strong| format!(" and {strong:.3} times is too strong"));
    // a part that buckles, for one
    let peak = if found.factor.abs() < found.largest_held.abs() { ", and more of it does less" } else { "" };
    format!(
        "metaphor '{}' cannot reach that at frame {}: nearest is {} with {:.3} times its magnitude{peak}; the largest that held is {:.3} times{limit}. The take is as it was; choose less, a later frame, or a wider metaphor",
        goal.metaphor,
        goal.frame,
        response_words(kind, found.response),
        found.factor,
        found.largest_held
    )
}

fn failure(error: MagnitudeError) -> Failure {
    match error {
        MagnitudeError::Step(error) => error.into(),
        other => Failure::input(other),
    }
}
