//! Muscles in scene files: those of characters, lines, drivers, and what is said about mistakes.

use sinew_control::Curve;
use sinew_io::read_scene_text;
use sinew_math::Vec3;
use sinew_sim::desc::{MuscleKind, MuscleTissue, MuscleVolume};
use sinew_take::Scene;
use std::path::Path;

const ARM: &str = "seconds = 1\n[[character]]\nname = 'arm'\ncage_tets = 300\nbone = [\n\
    { name = 'upper', from = [0, 0.3, 0], to = [0, 0.02, 0], radius = 0.02, flesh = 0.05, joint = 'fixed' },\n\
    { name = 'lower', parent = 'upper', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.02, flesh = 0.05, joint = 'revolute', axis = [0, 0, 1] },\n]\n";

fn read(muscles: &str) -> Result<Scene, String> {
    let read = read_scene_text(&format!("{ARM}{muscles}"), "s", Path::new(""));
    read.map(|loaded| loaded.value).map_err(|errors| errors.to_string())
}

#[test]
fn a_muscle_of_a_character_is_a_spindle_of_muscle_between_its_bones() {
    let scene = read(
        "[[character.muscle]]\nradius = 0.02\norigin = { place = [0.02, 0.25, 0], bone = 'upper' }\n\
         insertion = { place = [0.05, 0.01, 0], bone = 'lower' }\ndriver = { bone = 'lower', keys = [[0, 0.2], [90, 1]] }\n",
    )
    .expect("sound");
    let muscle = &scene.world.muscles[0];
    assert_eq!((muscle.name.as_str(), muscle.curve), ("muscle-1", sinew_flesh::ForceLength::default()));
    let MuscleKind::Flesh(flesh) = &muscle.kind else { panic!("of flesh") };
    assert_eq!((flesh.body.as_str(), &flesh.volume), ("arm", &MuscleVolume::Spindle(0.02)));
    assert_eq!(flesh.tissue, Some(MuscleTissue::default()));
    let ends = flesh.ends.as_ref().expect("both");
    assert_eq!((ends[1].place, ends[1].bone.as_deref()), (Vec3::new(0.05, 0.01, 0.0), Some("lower")));

    // with a driver it is as active as the joint says; angles are in degrees
    let drive = &scene.curves.muscles[0];
    assert_eq!(drive.activation, Curve::Constant(1.0));
    let joint = drive.joint.as_ref().expect("driven");
    assert!((joint.curve.value(core::f64::consts::FRAC_PI_2) - 1.0).abs() < 1e-12);
    assert_eq!((joint.rig.as_str(), joint.bone.as_str(), joint.coordinate), ("arm", "lower", 0));
}

#[test]
fn a_line_runs_over_bones() {
    let scene = read(
        "[[muscle]]\nline = true\nforce = 200\norigin = { place = [0, 0.25, 0], bone = 'upper' }\n\
         via = [{ place = [0.03, 0.1, 0], bone = 'upper' }]\ninsertion = { place = [0.05, 0, 0], bone = 'lower' }\n",
    )
    .expect("sound");
    let MuscleKind::Line(line) = &scene.world.muscles[0].kind else { panic!("a line") };
    assert_eq!(
        line.points.iter().map(|(bone, _)| bone.as_str()).collect::<Vec<_>>(),
        ["upper", "upper", "lower"]
    );
    assert_eq!(scene.world.muscles[0].curve.max_stress, 200.0);
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_do() {
    let end = "{ place = [0, 0, 0], bone = 'upper' }";
    let cases = [
        ("[[muscle]]\nradius = 0.1\n".to_owned(), "needs `origin`"),
        (format!("[[muscle]]\norigin = {end}\n"), "`origin` needs `insertion`"),
        (format!("[[muscle]]\nline = true\norigin = {end}\ninsertion = {end}\n"), "needs `force`"),
        (
            format!("[[muscle]]\nline = true\nforce = 1\nstress = 2\norigin = {end}\ninsertion = {end}\n"),
            "a line has no cross-section",
        ),
        ("[[muscle]]\nforce = 5\n".to_owned(), "`force` needs line = true"),
        ("[[muscle]]\nactivation = 1.5\n".to_owned(), "the activation of a muscle is 1.5"),
        ("[[muscle]]\nvia = []\n".to_owned(), "`via` needs line = true"),
        ("[[character.muscle]]\nbody = 'arm'\n".to_owned(), "leave `body` out"),
        ("[[muscle]]\nbody = 'amr'\n".to_owned(), "did you mean \"arm\"?"),
        ("[[muscle]]\nname = 'a'\n[[muscle]]\nname = 'a'\n".to_owned(), "also named `a`"),
        ("[[muscle]]\nown_tissue = false\nyoung = 5\n".to_owned(), "no meaning with own_tissue = false"),
        ("human_muscles = {}\n".to_owned(), "`human_muscles`: it has no"),
    ];
    for (text, part) in cases {
        let error = read(&text).expect_err(&text);
        assert!(error.contains(part) && error.contains("line "), "{text}: {error}");
    }
}
