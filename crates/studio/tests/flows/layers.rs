//! Muscles and skin: activated, keyed, made stronger, made fatter, painted, and skin drawn and baked over flesh.

use super::SMALL;
use super::bench::Bench;
use egui_kittest::kittest::Queryable;
use sinew_io::tables::KeyedNumber;
use sinew_sim::desc::{ShapeDesc, SkinDesc};
use sinew_studio::{Selection, Tool};

/// Skin over a ball.
const SACK: &str = "seconds = 0.5
preroll = 0
[[character]]
name = \"sack\"
bone = [{ name = \"spine\", from = [0, -0.1, 0], to = [0, 0.1, 0], radius = 0.05, joint = \"fixed\" }]
[character.skin]
wrap = [16, 16]
fat = 0.01
pressure = 20
bands = { stiffness = 500 }
[[character.skin.muscle]]
name = \"ball\"
bone = \"spine\"
radius = 0.2
";

impl Bench {
    /// Pauses at the first frame.
    fn rest_at_start(&mut self) {
        self.harness.key_press(egui::Key::Space);
        self.harness.run_steps(2);
        self.harness.key_press(egui::Key::Home);
        self.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    }

    /// Clicks the rail of a slider at a fraction of its length.
    fn slide(&mut self, name: &str, fraction: f32) {
        let rail = self.harness.get_by_role_and_label(egui::Role::Slider, name).rect();
        let at = [rail.left() + rail.width() * fraction, rail.center().y];
        self.drag(&[at, at], 1);
    }

    /// The skin of the first body.
    fn skin(&mut self) -> SkinDesc {
        let document = self.studio().status().document.clone().unwrap();
        match &document.opened.scene.world.bodies[0].shape {
            ShapeDesc::Skin(skin) => (**skin).clone(),
            other => panic!("no skin: {other:?}"),
        }
    }
}

#[test]
fn a_muscle_is_activated_keyed_and_taken_back() {
    let mut bench = Bench::new(SMALL);
    bench.open("muscle-arm");
    bench.until("ten frames", |studio| studio.frame_count() > 10);
    bench.rest_at_start();
    bench.click("biceps");
    assert_eq!(bench.studio().selection(), Selection::Muscle(0));
    assert!(bench.harness.query_by_label_contains("up to 4").is_some(), "its force is not shown");
    bench.save_picture("muscle");

    // a number from the shown frame on
    bench.slide("activation", 0.75);
    bench.until("the edit", |studio| studio.edit_count() == 1);
    let edit = bench.studio().status().edits[0].clone();
    let activation = edit.activation.unwrap();
    assert!(matches!(activation["biceps"], KeyedNumber::Constant(a) if (0.6..0.9).contains(&a)));
    bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    bench.until("no edit", |studio| studio.edit_count() == 0);

    // the curve of the scene, to be shaped
    bench.studio().select(Selection::Muscle(0));
    bench.harness.run_steps(2);
    bench.click("Shape over time");
    bench.until("the curve", |studio| studio.edit_count() == 1);
    bench.harness.run_steps(3);
    assert!(bench.harness.query_by_label("activation of biceps").is_some());
    let edit = bench.studio().status().edits[0].clone();
    let activation = edit.activation.unwrap();
    let KeyedNumber::Curve(curve) = &activation["biceps"] else { panic!("{activation:?}") };
    assert_eq!(curve.keys.len(), 5, "the curve is not that of the scene");
    bench.save_picture("muscle-curve");
    bench.until("frames with it", |studio| studio.frame_count() > 10);
    assert_eq!(bench.studio().status().stopped, None);
}

#[test]
fn a_muscle_is_made_stronger_in_a_new_take() {
    let mut bench = Bench::new(SMALL);
    bench.open("muscle-arm");
    bench.rest_at_start();
    bench.studio().select(Selection::Muscle(1));
    bench.harness.run_steps(2);
    let of = |bench: &mut Bench| {
        let document = bench.studio().status().document.clone().unwrap();
        document.model.muscles().iter().map(|muscle| muscle.curve.max_stress).collect::<Vec<f64>>()
    };
    let before = of(&mut bench);
    bench.slide("stress (kPa)", 0.9);
    bench.until("the new take", |studio| {
        studio.has_picture()
            && studio
                .status()
                .document
                .as_ref()
                .is_some_and(|own| own.model.muscles()[1].curve.max_stress > 4e5)
    });
    let after = of(&mut bench);
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    assert_eq!(bench.studio().selection(), Selection::Muscle(1));
}

#[test]
fn skin_is_made_fatter_and_its_fat_is_painted() {
    let mut bench = Bench::new(SMALL);
    let scene = bench.folder_path().join("sack.toml");
    std::fs::write(&scene, SACK).unwrap();
    bench.open(scene.to_str().unwrap());
    bench.until("ten frames", |studio| studio.frame_count() > 10);
    bench.rest_at_start();
    bench.studio().select(Selection::Body(0));
    bench.harness.run_steps(2);
    bench.save_picture("skin");
    let before = bench.skin();
    bench.slide("fat (mm)", 0.3);
    bench.until("the new take", |studio| studio.has_picture() && studio.frame_count() > 5);
    let fatter = bench.skin();
    assert!(fatter.fat > 2.0 * before.fat, "{} {}", fatter.fat, before.fat);
    assert_eq!((fatter.pressure, &fatter.bands), (before.pressure, &before.bands));

    // fat is what is painted on skin; time stays paused in a new take
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    bench.click("Paint its fat");
    assert!(bench.harness.query_by_label("Paint fat").is_some());
    let [x, y] = bench.studio().middle_of_view(0);
    bench.drag(&[[x, y], [x + 20.0, y - 10.0], [x + 40.0, y - 20.0]], 8);
    let [low, high] = bench.studio().painted_range().unwrap();
    assert!(low == 1.0 && high > 1.3, "{low} to {high}");
    bench.until("a picture of it", |studio| studio.shows_painting());
    bench.harness.run_steps(2);
    bench.save_picture("paint-fat");
    bench.click("Use it");
    bench.until("the new skin", |studio| studio.has_picture() && studio.frame_count() > 5);
    let painted = bench.skin();
    assert!(!painted.fat_field.is_empty() && painted.fat == fatter.fat);
    bench.harness.run_steps(2);
    assert_eq!(bench.studio().painted_range(), Some([low, high]), "what was painted is read back");
}

#[test]
fn skin_is_drawn_and_baked_over_flesh() {
    let mut bench = Bench::new(SMALL);
    let folder = bench.folder_path();
    bench.open("worm");
    bench.until("all frames", |studio| studio.frame_count() == studio.status().frame_goal);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.studio().choose(Tool::Select);
    bench.harness.key_press(egui::Key::End);
    bench.until("the last frame", |studio| studio.shows_current_frame());
    bench.harness.run_steps(2);
    let plain = bench.picture();
    bench.click("View");
    bench.click("Skin over flesh");
    bench.harness.key_press(egui::Key::Escape);
    bench.until("skin", |studio| studio.shows_skin() && studio.shows_current_frame());
    bench.harness.run_steps(3);
    bench.save_picture("skin-over-flesh");
    let skin = bench.picture();
    // the panels are the same, and most of the picture
    let differ = plain.pixels.iter().zip(&skin.pixels).filter(|(a, b)| a != b).count();
    assert!(differ > 200, "{differ} pixels differ");

    // baked without and with it
    for (name, has_skin) in [("plain", false), ("skin", true)] {
        bench.studio().bake_skin(has_skin);
        bench.studio().bake_to(&folder.join(name));
        bench.until("the bake", |studio| !studio.is_working());
    }
    let bytes = |name: &str| std::fs::read(folder.join(name).with_extension("glb")).unwrap();
    assert_ne!(bytes("plain"), bytes("skin"));
}
