//! A picture of a take without a GPU: moments spread over it, side by side in one PNG.
//!
//! All moments are seen by one camera, fitted to all of them, so that motion reads from tile to tile. It goes along with what travels farther than
//! it is large.
//! Only a few frames are kept while the take runs, however long it is. The same take gives the same bytes.

mod camera;
mod light;
mod raster;

use crate::Up;
use crate::normals::Smoothing;
use crate::palette::body_color;
use crate::pending::PendingFile;
use crate::shape_check::{check_frame, check_surfaces};
use camera::Camera;
use light::{Light, smooth};
use raster::Raster;
use rayon::prelude::*;
use sinew_math::{Vec3, real};
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo};
use std::io::Write;
use std::path::PathBuf;

/// Every pixel is the mean of this many squared.
const SUPERSAMPLES: usize = 3;
/// Frames kept per tile while the length of the take is unknown; the moments shown are then at most an
/// eighth of their distance from where they should be.
const KEPT_PER_TILE: usize = 4;
/// A sheet beyond this is a slip of the keyboard (pixels).
const PIXEL_LIMIT: usize = 100_000_000;

/// How a preview is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviewOptions {
    /// Pictures side by side.
    pub columns: usize,
    /// Rows of pictures.
    pub rows: usize,
    /// The width of one picture (pixels).
    pub tile_width: usize,
    /// The height of one picture (pixels).
    pub tile_height: usize,
    /// The axis that points up in the frames.
    pub up: Up,
    /// How far the camera walks round the bodies (degrees), counter-clockwise seen from above; at 0 it stands
    /// before them (at +z where y is up) and a little to their left.
    pub turn: f64,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        PreviewOptions { columns: 3, rows: 2, tile_width: 480, tile_height: 400, up: Up::Y, turn: 0.0 }
    }
}

/// Writes a PNG with moments of the take side by side.
#[derive(Debug)]
pub struct Preview {
    target: PathBuf,
    options: PreviewOptions,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    file: PendingFile,
    surfaces: Vec<SurfaceInfo>,
    /// Every `stride`-th frame so far, the first included.
    kept: Vec<Frame>,
    stride: usize,
    last: Option<Frame>,
    frame_count: usize,
}

impl Preview {
    /// A picture that will appear as `target`.
    pub fn new(target: impl Into<PathBuf>, options: PreviewOptions) -> Preview {
        Preview { target: target.into(), options, take: None }
    }
}

impl FrameSink for Preview {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        let PreviewOptions { columns, rows, tile_width, tile_height, .. } = self.options;
        let pixels =
            [columns, rows, tile_width, tile_height].iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if !self.options.turn.is_finite() {
            return Err(SinkError(format!("the camera cannot turn by {} degrees", self.options.turn)));
        }
        if pixels == 0 || pixels > PIXEL_LIMIT {
            return Err(SinkError(format!(
                "{columns} × {rows} pictures of {tile_width} × {tile_height} pixels cannot be drawn: \
                 1 to {PIXEL_LIMIT} pixels in all are accepted"
            )));
        }
        check_surfaces(surfaces)?;
        let file = PendingFile::create(&self.target).map_err(|error| SinkError(error.to_string()))?;
        let surfaces = surfaces.to_vec();
        self.take = Some(Take { file, surfaces, kept: Vec::new(), stride: 1, last: None, frame_count: 0 });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let most = KEPT_PER_TILE * self.options.columns * self.options.rows;
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        if take.frame_count.is_multiple_of(take.stride) {
            if take.kept.len() == most {
                // every other one goes, so that those that stay are still evenly spread
                let mut index = 0;
                take.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                take.stride *= 2;
            }
            if take.frame_count.is_multiple_of(take.stride) {
                take.kept.push(frame.clone());
            }
        }
        take.last.get_or_insert_default().clone_from(frame);
        take.frame_count += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let Take { mut file, surfaces, kept, stride, last, frame_count } =
            self.take.take().ok_or_else(not_begun)?;
        let mut moments = kept;
        // unless the last frame was kept anyway
        if frame_count > 0 && !(frame_count - 1).is_multiple_of(stride) {
            moments.extend(last);
        }
        if moments.is_empty() {
            moments.push(Frame {
                time: 0.0,
                surfaces: surfaces.iter().map(|s| s.rest.clone()).collect(),
                ..Frame::default()
            });
        }
        let shown = spread(&moments, self.options.columns * self.options.rows);
        let sheet = draw_sheet(&surfaces, &shown, &self.options);
        write_png(&sheet, &self.options, &mut file).map_err(|error| SinkError(error.to_string()))?;
        file.commit().map_err(|error| SinkError(error.to_string()))
    }
}

/// As many frames as wanted, spread evenly in time from the first to the last.
fn spread(moments: &[Frame], count: usize) -> Vec<&Frame> {
    let (first, last) = (moments[0].time, moments[moments.len() - 1].time);
    let at = |i: usize| first + (last - first) * i as f64 / count.saturating_sub(1).max(1) as f64;
    let nearest = |time: f64| {
        moments
            .iter()
            .min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()))
            .unwrap_or(&moments[0])
    };
    (0..count).map(|i| nearest(at(i))).collect()
}

/// The whole sheet, three bytes per pixel, row by row.
fn draw_sheet(surfaces: &[SurfaceInfo], shown: &[&Frame], options: &PreviewOptions) -> Vec<u8> {
    let PreviewOptions { columns, rows, tile_width, tile_height, up, turn } = *options;
    // the bodies are turned before the camera, so that the light stays with it
    let angle = -turn.to_radians();
    let (sin, cos) = (real::sin(angle) as f32, real::cos(angle) as f32);
    let turned = |p: &[f32; 3]| {
        let [x, y, z] = up.to_y_up(*p);
        [cos * x + sin * z, y, cos * z - sin * x]
    };
    let mut moments: Vec<Vec<Vec<[f32; 3]>>> = shown
        .iter()
        .map(|f| f.surfaces.iter().map(|body| body.iter().map(turned).collect()).collect())
        .collect();
    go_along(&mut moments);
    let points = || moments.iter().flatten().flatten().map(|p| to_vector(*p));
    let camera = Camera::fitted(points, tile_width as f64 / tile_height as f64);
    let ground = points().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let smoothings: Vec<Smoothing> = surfaces.iter().map(Smoothing::of).collect();

    let stage = Stage { surfaces, smoothings, camera, ground, tile_width, tile_height };
    let tiles: Vec<Vec<u8>> = moments.par_iter().map(|bodies| stage.draw(bodies)).collect();
    let mut sheet = Vec::with_capacity(3 * columns * rows * tile_width * tile_height);
    for row in tiles.chunks(columns) {
        for y in 0..tile_height {
            row.iter()
                .for_each(|tile| sheet.extend_from_slice(&tile[3 * y * tile_width..][..3 * tile_width]));
        }
    }
    sheet
}

/// Takes out how the bodies travel over the ground together, if that is farther than they are large at any one moment.
fn go_along(moments: &mut [Vec<Vec<[f32; 3]>>]) {
    let bounds = |moment: &Vec<Vec<[f32; 3]>>| {
        let points = || moment.iter().flatten().map(|p| to_vector(*p));
        let low = points().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(&p));
        let high = points().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(&p));
        (low, high)
    };
    let boxes: Vec<(Vec3, Vec3)> = moments.iter().map(bounds).collect();
    let size = boxes.iter().map(|(low, high)| (high - low).amax()).fold(0.0, f64::max);
    let middle = |(low, high): &(Vec3, Vec3)| 0.5 * (low + high);
    let Some(first) = boxes.first().map(middle) else { return };
    let travel = boxes.iter().map(|b| (middle(b) - first).xz().norm()).fold(0.0, f64::max);
    if !(travel > size && travel.is_finite()) {
        return;
    }
    for (moment, own) in moments.iter_mut().zip(&boxes) {
        let by = middle(own) - first;
        for p in moment.iter_mut().flatten() {
            p[0] -= by.x as f32;
            p[2] -= by.z as f32;
        }
    }
}

/// What all tiles have in common.
struct Stage<'a> {
    surfaces: &'a [SurfaceInfo],
    smoothings: Vec<Smoothing<'a>>,
    camera: Camera,
    ground: f64,
    tile_width: usize,
    tile_height: usize,
}

impl Stage<'_> {
    /// One tile, three bytes per pixel, row by row.
    fn draw(&self, bodies: &[Vec<[f32; 3]>]) -> Vec<u8> {
        let Stage { surfaces, camera, .. } = self;
        let triangles =
            || bodies.iter().zip(*surfaces).flat_map(|(body, info)| corners_of(body, &info.triangles));
        let light = Light::over(triangles, self.ground);
        let mut raster = Raster::new(self.tile_width * SUPERSAMPLES, self.tile_height * SUPERSAMPLES);
        for (index, (body, info)) in bodies.iter().zip(*surfaces).enumerate() {
            let normals: Vec<Vec3> =
                self.smoothings[index].normals(body).into_iter().map(to_vector).collect();
            let color = body_color(index).map(f64::from);
            for (triangle, corners) in info.triangles.iter().zip(corners_of(body, &info.triangles)) {
                // open surfaces show their inside
                let [a, b, c] = corners;
                let outside = (b - a).cross(&(c - a)).dot(&camera.towards_eye(a)) >= 0.0;
                let facing = if outside { 1.0 } else { -1.0 };
                let corner_normals = triangle.map(|v| normals[v as usize] * facing);
                raster.draw(camera, corners, corner_normals, |point, normal| {
                    light.on_body(point, normal, camera.towards_eye(point), color)
                });
            }
        }
        raster.fill_rest(|x, y| {
            // shades fade towards the border, where the next tile begins
            let inside = smooth((1.0 - x.abs().max(y.abs())) / 0.2);
            light.on_background(camera.eye(), camera.ray(x, y), inside)
        });
        raster.to_bytes(SUPERSAMPLES)
    }
}

fn corners_of(body: &[[f32; 3]], triangles: &[[u32; 3]]) -> impl Iterator<Item = [Vec3; 3]> {
    triangles.iter().map(|triangle| triangle.map(|v| to_vector(body[v as usize])))
}

fn to_vector(p: [f32; 3]) -> Vec3 {
    Vec3::from(p.map(f64::from))
}

fn write_png(sheet: &[u8], options: &PreviewOptions, file: impl Write) -> Result<(), png::EncodingError> {
    let width = (options.columns * options.tile_width) as u32;
    let height = (options.rows * options.tile_height) as u32;
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(sheet)?;
    writer.finish()
}

fn not_begun() -> SinkError {
    SinkError("the preview was given a frame outside of begin and finish".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::tests::names_in;
    use sinew_mesh::shapes;
    use std::path::Path;

    const SMALL: PreviewOptions =
        PreviewOptions { columns: 2, rows: 1, tile_width: 48, tile_height: 40, up: Up::Y, turn: 0.0 };

    fn ball() -> SurfaceInfo {
        let mesh = shapes::sphere(0.5, 3);
        let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        SurfaceInfo { name: "ball".into(), triangles: mesh.triangles, rest }
    }

    fn falling(f: usize) -> Frame {
        let drop = 0.02 * f as f32;
        let surface = ball().rest.iter().map(|[x, y, z]| [*x, y - drop, *z]).collect();
        Frame { time: f as f64 / 60.0, surfaces: vec![surface], ..Frame::default() }
    }

    fn write(target: &Path, options: PreviewOptions, count: usize) -> Vec<u8> {
        let mut sink = Preview::new(target, options);
        sink.begin(&[ball()], 60.0).unwrap();
        (0..count).for_each(|f| sink.frame(&falling(f)).unwrap());
        sink.finish().unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(std::fs::read(target).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    /// How far each column of pixels of a tile is from grey at most.
    fn colored_rows(pixels: &[u8], tile: usize) -> Vec<usize> {
        let colored = |y: usize| {
            (48 * tile..48 * (tile + 1)).any(|x| {
                let [r, _, b] = [0, 1, 2].map(|i| i32::from(pixels[3 * (y * 96 + x) + i]));
                (r - b).abs() > 60
            })
        };
        (0..40).filter(|&y| colored(y)).collect()
    }

    #[test]
    fn a_falling_ball_is_high_in_the_first_picture_and_low_in_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let pixels = write(&folder.path().join("a.png"), SMALL, 40);
        let [first, last] = [0, 1].map(|tile| colored_rows(&pixels, tile));
        assert!(first.len() > 8 && last.len() > 8, "{first:?} {last:?}");
        assert!(first[0] < last[0] && first[first.len() - 1] < last[last.len() - 1]);
        // and nothing is cut off
        assert!(first[0] > 0 && last[last.len() - 1] < 39);
    }

    #[test]
    fn the_same_take_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.png", "b.png"].map(|name| folder.path().join(name));
        write(&a, SMALL, 9);
        write(&b, SMALL, 9);
        assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
    }

    #[test]
    fn a_take_of_any_length_is_spread_from_first_to_last() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 7, 8, 9, 17, 100] {
            write(&folder.path().join("a.png"), SMALL, count);
        }
        let mut sink = Preview::new(folder.path().join("b.png"), SMALL);
        sink.begin(&[ball()], 60.0).unwrap();
        for f in 0..1000 {
            sink.frame(&falling(f)).unwrap();
            assert!(sink.take.as_ref().unwrap().kept.len() <= KEPT_PER_TILE * 2);
        }
        drop(sink);
        assert_eq!(names_in(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_sheet_that_cannot_be_drawn_or_written_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (target, options) in [
            (folder.path().to_owned(), SMALL),
            (at("missing/a.png"), SMALL),
            (at("a.png"), PreviewOptions { columns: 0, ..SMALL }),
            (at("a.png"), PreviewOptions { tile_width: usize::MAX, ..SMALL }),
        ] {
            assert!(Preview::new(target, options).begin(&[ball()], 60.0).is_err());
        }
        assert!(names_in(folder.path()).is_empty());
    }
}
