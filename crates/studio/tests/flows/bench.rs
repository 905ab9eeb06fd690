//! A studio without a window, to use as a person would: buttons by their names, the mouse, and pictures.

use egui_kittest::kittest::Queryable;
use egui_kittest::{Harness, TestRenderer};
use sinew_studio::Studio;
use sinew_studio::software_painter::SoftwarePainter;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

struct SharedPainter(Arc<Mutex<SoftwarePainter>>);

impl TestRenderer for SharedPainter {
    fn handle_delta(&mut self, delta: &mut egui::TexturesDelta) {
        self.0.lock().unwrap().upload(delta);
    }
}

/// A studio that is being tested.
pub(crate) struct Bench {
    /// The interface, with the studio as its state.
    pub(crate) harness: Harness<'static, Option<Studio>>,
    painter: Arc<Mutex<SoftwarePainter>>,
    folder: tempfile::TempDir,
    size: [usize; 2],
}

impl Bench {
    /// A studio of a size (points), which are pixels here; of 2560 × 1440 if `SINEW_STUDIO_LARGE` is set, to look at its pictures.
    pub(crate) fn new(size: [usize; 2]) -> Bench {
        Bench::prepared(size, |_| {})
    }

    /// The same, with something in its folder before it starts.
    pub(crate) fn prepared(size: [usize; 2], prepare: impl FnOnce(&Path)) -> Bench {
        let size = if std::env::var_os("SINEW_STUDIO_LARGE").is_some() { [2560, 1440] } else { size };
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let painter: Arc<Mutex<SoftwarePainter>> = Arc::default();
        let place = folder.path().to_path_buf();
        let app = move |ui: &mut egui::Ui, studio: &mut Option<Studio>| {
            studio.get_or_insert_with(|| Studio::new(ui.ctx(), &place).unwrap()).ui(ui);
        };
        let harness = Harness::builder()
            .with_size(egui::vec2(size[0] as f32, size[1] as f32))
            .with_step_dt(1.0 / 60.0)
            .with_max_steps(8)
            .renderer(SharedPainter(painter.clone()))
            .build_ui_state(app, None);
        Bench { harness, painter, folder, size }
    }

    /// Where its files are.
    pub(crate) fn folder_path(&self) -> std::path::PathBuf {
        self.folder.path().to_path_buf()
    }

    /// The studio.
    pub(crate) fn studio(&mut self) -> &mut Studio {
        self.harness.state_mut().as_mut().unwrap()
    }

    /// Opens something and waits for its first picture.
    pub(crate) fn open(&mut self, input: &str) {
        self.studio().open(Path::new(input));
        self.until("the first picture", |studio| studio.has_picture());
    }

    /// Lets the interface run until something holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Studio) -> bool) {
        let start = Instant::now();
        loop {
            self.harness.step();
            let studio = self.harness.state().as_ref().unwrap();
            if holds(studio) {
                return;
            }
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "waited in vain for {what}: {}",
                studio.describe()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Clicks what has a name.
    pub(crate) fn click(&mut self, name: &str) {
        self.harness.get_by_label(name).click();
        self.harness.run_steps(3);
    }

    /// Presses, moves along places (points) and lets go.
    pub(crate) fn drag(&mut self, places: &[[f32; 2]], frames_between: usize) {
        let at = |place: &[f32; 2]| egui::pos2(place[0], place[1]);
        self.harness.hover_at(at(&places[0]));
        self.harness.step();
        self.harness.drag_at(at(&places[0]));
        self.harness.step();
        for place in &places[1..] {
            self.harness.hover_at(at(place));
            for _ in 0..frames_between.max(1) {
                self.harness.step();
                std::thread::sleep(Duration::from_millis(8));
            }
        }
        self.harness.drop_at(at(&places[places.len() - 1]));
        self.harness.run_steps(2);
    }

    /// Paints what the interface shows.
    pub(crate) fn picture(&mut self) -> egui::ColorImage {
        let output = self.harness.output();
        let primitives = self.harness.ctx.tessellate(output.shapes.clone(), 1.0);
        let background = sinew_studio::background(self.harness.ctx.global_style().visuals.dark_mode);
        let mut painter = self.painter.lock().unwrap();
        painter.paint(&primitives, self.size, 1.0, background);
        let pixel = |packed: &u32| {
            let [_, r, g, b] = packed.to_be_bytes();
            egui::Color32::from_rgb(r, g, b)
        };
        egui::ColorImage::new(self.size, painter.pixels().iter().map(pixel).collect())
    }

    /// Writes a picture into the folder that the environment names, to look at; nothing without one.
    pub(crate) fn save_picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SINEW_STUDIO_PICTURES") else { return };
        let image = self.picture();
        let bytes: Vec<u8> =
            image.pixels.iter().flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
        std::fs::create_dir_all(&folder).unwrap();
        let file = std::fs::File::create(Path::new(&folder).join(format!("{name}.png"))).unwrap();
        let mut encoder = png::Encoder::new(file, self.size[0] as u32, self.size[1] as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
    }
}
