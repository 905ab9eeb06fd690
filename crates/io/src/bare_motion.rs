//! Makes a scene of a motion file (BVH) that is given without a scene file: a figure with flesh around the joints of the file.

use crate::bvh::read_bvh_in;
use crate::scene_file::read_scene_text;
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes};
use sinew_take::Scene;
use std::path::Path;

/// The scene of a BVH file: a figure with flesh around its bones that plays the whole motion, y up. `unit` is the length of the file's unit
/// (m); by default it is found by the length of the figure's legs.
pub fn scene_of_motion(path: &Path, unit: Option<f64>) -> Result<Loaded<Scene>, ReadErrors> {
    // how long the motion is
    let bvh = read_bvh_in(&read_bytes(path)?, unit).map_err(|error| error.within(path))?.value;
    let frames = bvh.frame_count.saturating_sub(1 + bvh.first_motion_frame());
    if frames == 0 {
        return Err(ReadError::whole("the file has no motion: at least two frames are needed")
            .within(path)
            .into());
    }
    let seconds = frames as f64 * bvh.frame_seconds;

    // a scene file with one character
    let name = path.file_stem().map_or("figure".into(), |stem| stem.to_string_lossy().into_owned());
    let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let unit = unit.map_or(String::new(), |unit| format!("unit = {unit:?}\n"));
    let text = format!(
        "seconds = {seconds:?}\n[[character]]\nname = {}\nskeleton = {}\n{unit}anchored = true\n",
        toml::Value::String(name.clone()),
        toml::Value::String(file)
    );
    let mut scene = read_scene_text(&text, &name, path.parent().unwrap_or(Path::new("")))?;
    scene.notes.push(
        "a motion file says nothing about its body: flesh is made around its joints; write a scene file to change that".into(),
    );
    Ok(scene)
}
