//! Characters made of meshes of others, in the folder that `SINEW_ASSETS` names.

#[path = "flows/bench.rs"]
mod bench;

use bench::Bench;
use sinew_studio::Tool;

/// Joints from the hind quarters over the back to the head, and down a leg, are clicked into a cow; it becomes a character that can be posed.
#[test]
fn a_cow_becomes_a_character_by_clicking_joints() {
    let folder = std::env::var_os("SINEW_ASSETS").expect("SINEW_ASSETS must name the folder of meshes");
    let mesh = std::path::Path::new(&folder).join("cow.obj");
    let mut bench = Bench::new([1280, 720]);
    bench.open(mesh.to_str().unwrap());
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.harness.key_press(egui::Key::Home);
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    // from the side that shows most of it
    let sides = [egui::Key::Num1, egui::Key::Num3];
    let width = |bench: &mut Bench| {
        let xs: Vec<f32> = bench.studio().outline(0).iter().map(|at| at[0]).collect();
        xs.iter().copied().fold(f32::MIN, f32::max) - xs.iter().copied().fold(f32::MAX, f32::min)
    };
    let widths = sides.map(|side| {
        bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, side);
        bench.harness.run_steps(2);
        width(&mut bench)
    });
    let best = if widths[0] > widths[1] { sides[0] } else { sides[1] };
    bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, best);
    bench.harness.run_steps(2);
    bench.click("Joints");
    bench.until("a picture from there", |studio| studio.shows_current_frame());

    // along the body, at the middle of its height in each column
    let outline = bench.studio().outline(0);
    let (low, high) =
        outline.iter().fold((f32::MAX, f32::MIN), |(low, high), at| (low.min(at[0]), high.max(at[0])));
    for fraction in [0.25, 0.5, 0.75] {
        let x = low + fraction * (high - low);
        let column = outline.iter().filter(|at| (at[0] - x).abs() < 8.0).map(|at| at[1]);
        let (top, bottom) = column.fold((f32::MAX, f32::MIN), |(top, bottom), y| (top.min(y), bottom.max(y)));
        let y = top + 0.3 * (bottom - top);
        bench.drag(&[[x, y], [x, y]], 1);
    }
    bench.save_picture("cow-joints");
    bench.click("Build the character");
    bench.until("the character", |studio| studio.has_picture() && studio.bone_count() == 2);
    bench.until("frames", |studio| studio.frame_count() > 20);
    bench.studio().choose(Tool::Reach);
    bench.harness.run_steps(3);
    bench.save_picture("cow-built");
    assert!(bench.studio().status().stopped.is_none(), "{}", bench.studio().describe());
}
