//! A motion file as a scene of its own: flesh drawn around its joints, which go where it says.

use crate::bvh::{BvhOptions, CMU_METRES, read_bvh};
use crate::scene_file::read_scene_text;
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes};
use sinew_take::Scene;
use std::path::Path;

/// The scene of a bare BVH file: a figure of flesh that plays its motion from beginning to end, with y up.
pub fn scene_of_motion(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    let options = BvhOptions { metres_per_unit: CMU_METRES, ..BvhOptions::default() };
    let bvh = read_bvh(&read_bytes(path)?, &options).map_err(|error| error.within(path))?.value;
    let frames = bvh.frame_count.saturating_sub(1 + bvh.first_motion_frame());
    if frames == 0 {
        return Err(ReadError::whole("the file has no motion: give one with two frames or more")
            .within(path)
            .into());
    }
    let seconds = frames as f64 * bvh.frame_seconds;
    let name = path.file_stem().map_or("figure".into(), |stem| stem.to_string_lossy().into_owned());
    let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let text = format!(
        "seconds = {seconds:?}\n[[character]]\nname = {}\nskeleton = {}\nanchored = true\n",
        toml::Value::String(name.clone()),
        toml::Value::String(file)
    );
    let mut scene = read_scene_text(&text, &name, path.parent().unwrap_or(Path::new("")))?;
    scene.notes.push(format!(
        "a bare motion has no unit and no body: one unit is taken as {CMU_METRES:.4} m, and flesh is drawn around its joints; \
         write a scene file to choose otherwise"
    ));
    Ok(scene)
}
