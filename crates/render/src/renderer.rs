//! One picture of one frame: backdrop, earlier ghosts, solid surfaces, later ghosts, glass, and overlays on top.

use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::draft_raster::{self, DraftBuffers, DraftLook};
use crate::draft_sky::DraftSky;
use crate::frame_source::Scalar;
use crate::geometry::{Geometry, PosedGeometry};
use crate::image::Image;
use crate::lighting::{Lighting, smoothstep};
use crate::raster::{self, TriangleList};
use crate::render_frame::RenderFrame;
use crate::strain_colors::{self, StrainField};
use crate::stroke_font;
use crate::view_transform::ViewTransform;
use sinew_math::Vec3;

/// The background (linear RGB), in the middle and in the corners.
const MIDDLE: [f64; 3] = [0.80, 0.815, 0.835];
const CORNERS: [f64; 3] = [0.60, 0.625, 0.66];
/// How far apart drafts evaluate it (pixels): the shadows on the ground are blurred over more than this.
const BACKDROP_STEP: usize = 8;
/// Colours of lines (linear RGB).
const BONE: [f32; 3] = [0.95, 0.92, 0.80];
const BONE_EDGE: [f32; 3] = [0.03, 0.035, 0.05];
const CAGE: [f32; 3] = [0.02, 0.10, 0.24];

/// What all pictures have in common.
pub(crate) struct Renderer<'a, 'w> {
    pub(crate) geometry: Geometry<'a>,
    /// Boundary triangles of the cages.
    pub(crate) cage: &'a [[u32; 3]],
    pub(crate) camera: Camera,
    /// The height of the ground in view axes (m).
    pub(crate) ground: f64,
    /// How many surfaces, from the first, are bodies or move.
    pub(crate) moving_count: usize,
    /// How many surfaces, from the first, cast shadows.
    pub(crate) caster_count: usize,
    /// What surfaces are coloured by.
    pub(crate) scalar: Scalar,
    /// The end of its scale; `None` if strain is not drawn.
    pub(crate) strain_scale: Option<f64>,
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Whether somebody still waits for the picture; what is drawn when nobody does is incomplete.
    pub(crate) is_wanted: Option<&'w (dyn Fn() -> bool + Sync)>,
}

/// What drafts keep from picture to picture.
#[derive(Default)]
pub(crate) struct DraftMemory {
    sky: DraftSky,
    buffers: DraftBuffers,
    /// The pixels of the last canvas, whose memory is used again.
    pub(crate) color: Vec<[f32; 3]>,
}

/// The content of one picture.
pub(crate) struct PictureContent<'a> {
    pub(crate) now: &'a RenderFrame,
    /// Earlier frames, the earliest first.
    pub(crate) ghosts: Vec<&'a RenderFrame>,
    /// Later frames, the latest first.
    pub(crate) later: Vec<&'a RenderFrame>,
    pub(crate) transform: ViewTransform,
}

/// Which vertices of the surfaces are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// As simulated, or as the file has them.
    Flesh,
    /// Under plain skinning.
    Skinned,
}

impl Renderer<'_, '_> {
    /// Draws one picture.
    pub(crate) fn draw(&self, content: &PictureContent, panel: Panel) -> Canvas {
        // vertices and lights
        let pose = |render_frame: &RenderFrame| self.pose(render_frame, content, panel);
        let mut now = pose(content.now);
        let lighting = self.lighting(&now);
        now.light(&lighting, &self.geometry.triangles);

        // backdrop and ghosts, the earliest first and faintest
        let mut canvas = Canvas::filled(self.width, self.height, |x, y| self.backdrop(&lighting, x, y));
        let count = content.ghosts.len();
        for (i, ghost) in content.ghosts.iter().enumerate() {
            let opacity = 0.10 + 0.30 * (i + 1) as f64 / (count + 1) as f64;
            self.draw_ghost(&mut canvas, &lighting, &pose(ghost), opacity);
        }

        // surfaces
        let strain = content.now.strain.concat();
        let field = self.strain_field(&strain, &now, panel);
        self.draw_solids(&mut canvas, &lighting, &now, field);
        self.draw_over(&mut canvas, &lighting, &now, content, panel);
        canvas
    }

    /// Draws one picture that is seen for an instant, about ten times as fast: one sample a pixel, lit at vertices, under a sky that is sampled over several pictures.
    pub(crate) fn draw_draft(
        &self,
        content: &PictureContent,
        panel: Panel,
        memory: &mut DraftMemory,
    ) -> Canvas {
        // vertices and lights
        let mut now = self.pose(content.now, content, panel);
        let (vertices, casters) = self.casters();
        let casters = (&now.points[..vertices], casters.as_slice());
        let (lighting, light) =
            Lighting::build_draft(casters, self.ground, (&now.points, now.normals()), &mut memory.sky);
        now.light_with(&light, &self.geometry.triangles);

        // surfaces
        let color = core::mem::take(&mut memory.color);
        let mut canvas = Canvas::smoothly_filled([self.width, self.height], BACKDROP_STEP, color, |x, y| {
            self.backdrop(&lighting, x, y)
        });
        let strain = content.now.strain.concat();
        let field = self.strain_field(&strain, &now, panel);
        self.draw_solids_quickly(&mut canvas, &lighting, &now, field, &mut memory.buffers);
        self.draw_over(&mut canvas, &lighting, &now, content, panel);
        canvas
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.is_none_or(|is_wanted| is_wanted())
    }

    fn pose(&self, render_frame: &RenderFrame, content: &PictureContent, panel: Panel) -> PosedGeometry {
        match panel {
            Panel::Flesh => self.geometry.pose(&render_frame.surfaces, &content.transform),
            Panel::Skinned => self.geometry.pose(&render_frame.skinned, &content.transform),
        }
    }

    /// What surfaces are coloured by, if that is wanted and known.
    fn strain_field<'s>(
        &self,
        strain: &'s [f32],
        now: &PosedGeometry,
        panel: Panel,
    ) -> Option<StrainField<'s>> {
        let is_known = panel == Panel::Flesh && strain.len() == now.points.len();
        self.strain_scale.filter(|_| is_known).map(|scale| StrainField { strain, scale })
    }

    /// Draws what comes after solid surfaces: later ghosts, glass and overlays.
    fn draw_over(
        &self,
        canvas: &mut Canvas,
        lighting: &Lighting,
        now: &PosedGeometry,
        content: &PictureContent,
        panel: Panel,
    ) {
        let count = content.later.len();
        for (i, ghost) in content.later.iter().enumerate() {
            let opacity = 0.12 + 0.25 * (i + 1) as f64 / (count + 1) as f64;
            self.draw_later(canvas, lighting, [&self.pose(ghost, content, panel), now], opacity);
        }
        self.draw_glass(canvas, lighting, now);

        // overlays
        if panel == Panel::Flesh {
            self.draw_cage(canvas, content);
        }
        self.draw_marks(canvas, content);
        let strain = content.now.strain.iter().map(Vec::len).sum::<usize>();
        let is_known = panel == Panel::Flesh && strain == now.points.len();
        if let Some(scale) = self.strain_scale.filter(|_| is_known) {
            strain_colors::draw_legend(canvas, self.scalar, scale);
        }
    }

    /// Draws plain skinning and flesh side by side, with a gap between them (pixels).
    pub(crate) fn draw_comparison(&self, content: &PictureContent, gap: usize) -> Image {
        let tile = |(panel, label): (Panel, &str)| {
            let mut canvas = self.draw(content, panel);
            let unit = stroke_font::height_in(&canvas);
            stroke_font::write(&mut canvas, [1.2 * unit, 2.2 * unit], unit, label);
            canvas.finish()
        };
        let (skinned, flesh) =
            rayon::join(|| tile((Panel::Skinned, "plain skinning")), || tile((Panel::Flesh, "flesh")));
        Image::sheet(&[skinned, flesh], 2, gap)
    }

    /// The lights with the shadows of all opaque casters.
    fn lighting(&self, posed: &PosedGeometry) -> Lighting {
        let (vertices, casters) = self.casters();
        Lighting::build(&posed.points[..vertices], &casters, self.ground, &|| self.is_wanted())
    }

    /// The triangles of opaque casters, and how many vertices they are of.
    fn casters(&self) -> (usize, Vec<[u32; 3]>) {
        let (vertices, triangles) = self.geometry.counts_of_first(self.caster_count);
        let casts = |t: &usize| self.is_solid(self.geometry.surface[*t]);
        (vertices, (0..triangles).filter(casts).map(|t| self.geometry.triangles[t]).collect())
    }

    fn is_solid(&self, surface: u16) -> bool {
        self.geometry.opacity(surface) >= 1.0
    }

    /// The background with the shadows on the ground, at a place of the picture.
    fn backdrop(&self, lighting: &Lighting, x: f64, y: f64) -> [f64; 3] {
        let outwards = smoothstep((x * x + (y + 0.1) * (y + 0.1)).sqrt() / 1.6);
        // shadows fade towards the border
        let inside = smoothstep((1.0 - x.abs().max(y.abs())) / 0.2);
        let lit = 1.0 - inside * lighting.ground_shadow(self.camera.eye(), self.camera.ray(x, y));
        [0, 1, 2].map(|i| lit * (MIDDLE[i] + outwards * (CORNERS[i] - MIDDLE[i])))
    }

    /// Draws solid surfaces, lit at their vertices; large triangles and textures pixel by pixel.
    fn draw_solids_quickly(
        &self,
        canvas: &mut Canvas,
        lighting: &Lighting,
        posed: &PosedGeometry,
        strain: Option<StrainField>,
        buffers: &mut DraftBuffers,
    ) {
        let eye = self.camera.eye();
        let is_solid = |surface: u16| self.is_solid(surface);
        let is_smooth: Vec<bool> = (0..self.geometry.surface_count() as u16)
            .map(|surface| self.geometry.is_smooth(surface))
            .collect();
        let is_facing = self.geometry.facing(posed, eye);
        let colors = self.geometry.shading_vertices((posed, &is_facing), eye, strain, |surface, at| {
            let is_lit =
                is_solid(surface) && is_smooth.get(usize::from(surface)).is_some_and(|smooth| *smooth);
            if is_lit { lighting.shade(at).map(|c| c as f32) } else { [0.0; 3] }
        });
        let list = self.triangles(posed, &is_solid);
        let look = DraftLook { colors: &colors, is_smooth: &is_smooth, is_facing: &is_facing };
        draft_raster::draw(canvas, &self.camera, &list, &look, buffers, |fragment| {
            lighting.shade(&self.geometry.shading_point(posed, fragment, eye, strain))
        });
    }

    fn draw_solids(
        &self,
        canvas: &mut Canvas,
        lighting: &Lighting,
        posed: &PosedGeometry,
        strain: Option<StrainField>,
    ) {
        let eye = self.camera.eye();
        let is_solid = |surface: u16| self.is_solid(surface);
        raster::draw(
            canvas,
            &self.camera,
            &self.triangles(posed, &is_solid),
            &|| self.is_wanted(),
            |fragment| (lighting.shade(&self.geometry.shading_point(posed, fragment, eye, strain)), 1.0),
        );
    }

    /// Draws transparent surfaces, the farthest first, where nothing solid is in front. Their opacity grows at grazing angles (Schlick's approximation
    /// with the fourth power).
    fn draw_glass(&self, canvas: &mut Canvas, lighting: &Lighting, posed: &PosedGeometry) {
        // back to front
        let eye = self.camera.eye();
        let mut glass: Vec<(u16, f64)> = (0..self.geometry.surface_count() as u16)
            .filter(|surface| !self.is_solid(*surface))
            .map(|surface| (surface, (self.geometry.centroid(posed, surface) - eye).norm()))
            .collect();
        glass.sort_by(|a, b| b.1.total_cmp(&a.1));

        // solid surfaces are rasterised too, to hide the glass behind them
        for (own, _) in glass {
            let opacity = self.geometry.opacity(own);
            let is_drawn = |surface: u16| surface == own || self.is_solid(surface);
            raster::draw(
                canvas,
                &self.camera,
                &self.triangles(posed, &is_drawn),
                &|| self.is_wanted(),
                |fragment| {
                    if self.geometry.surface[fragment.triangle] != own {
                        return ([0.0; 3], 0.0);
                    }
                    let at = self.geometry.shading_point(posed, fragment, eye, None);
                    let towards_eye = (eye - at.point).try_normalize(0.0).unwrap_or(Vec3::z());
                    let grazing = 1.0 - at.normal.dot(&towards_eye).abs().min(1.0);
                    (lighting.shade_unshadowed(&at), opacity + (1.0 - opacity) * grazing.powi(4))
                },
            );
        }
    }

    fn draw_ghost(&self, canvas: &mut Canvas, lighting: &Lighting, posed: &PosedGeometry, opacity: f64) {
        let eye = self.camera.eye();
        let is_solid = |surface: u16| self.is_solid(surface);
        raster::draw(
            canvas,
            &self.camera,
            &self.triangles(posed, &is_solid),
            &|| self.is_wanted(),
            |fragment| {
                (lighting.shade_unshadowed(&self.geometry.shading_point(posed, fragment, eye, None)), opacity)
            },
        );
    }

    /// Draws what moves as it will be later, where nothing solid of now is in front.
    fn draw_later(
        &self,
        canvas: &mut Canvas,
        lighting: &Lighting,
        [later, now]: [&PosedGeometry; 2],
        opacity: f64,
    ) {
        // the surfaces of now come after those of later, to hide what is behind them
        let Geometry { triangles, surface, .. } = &self.geometry;
        let (count, first) = (self.geometry.surface_count() as u16, later.points.len() as u32);
        if count > u16::MAX / 2 {
            return;
        }
        let points = [later.points.as_slice(), now.points.as_slice()].concat();
        let moved = triangles.iter().map(|triangle| triangle.map(|v| v + first));
        let both: Vec<[u32; 3]> = triangles.iter().copied().chain(moved).collect();
        let surfaces: Vec<u16> = surface.iter().copied().chain(surface.iter().map(|s| s + count)).collect();
        let is_drawn = |surface: u16| match surface.checked_sub(count) {
            Some(now) => self.is_solid(now),
            None => usize::from(surface) < self.moving_count && self.is_solid(surface),
        };
        let list =
            TriangleList { points: &points, triangles: &both, surface: &surfaces, is_drawn: &is_drawn };
        let eye = self.camera.eye();
        raster::draw(canvas, &self.camera, &list, &|| self.is_wanted(), |fragment| {
            if fragment.triangle >= triangles.len() {
                return ([0.0; 3], 0.0);
            }
            (lighting.shade_unshadowed(&self.geometry.shading_point(later, fragment, eye, None)), opacity)
        });
    }

    fn triangles<'t>(
        &'t self,
        posed: &'t PosedGeometry,
        is_drawn: &'t (dyn Fn(u16) -> bool + Sync),
    ) -> TriangleList<'t> {
        let Geometry { triangles, surface, .. } = &self.geometry;
        TriangleList { points: &posed.points, triangles, surface, is_drawn }
    }

    /// Draws the edges of the cage's front faces.
    fn draw_cage(&self, canvas: &mut Canvas, content: &PictureContent) {
        // the edges of front faces, each once
        let nodes: Vec<Vec3> = content.now.cage.iter().map(|p| content.transform.single_point(p)).collect();
        let mut edges = Vec::new();
        for triangle in self.cage {
            if triangle.iter().any(|v| *v as usize >= nodes.len()) {
                continue;
            }
            let [a, b, c] = triangle.map(|v| nodes[v as usize]);
            if (b - a).cross(&(c - a)).dot(&(self.camera.eye() - a)) > 0.0 {
                let [a, b, c] = *triangle;
                edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
            }
        }
        edges.sort_unstable();
        edges.dedup();

        let radius = (self.height as f64 / 1400.0).max(0.35);
        for [a, b] in edges {
            let ends = [nodes[a as usize], nodes[b as usize]].map(|p| self.pixel(p));
            if let [Some(a), Some(b)] = ends {
                canvas.stroke([a, b], [radius; 2], CAGE, 0.5);
            }
        }
    }

    fn draw_marks(&self, canvas: &mut Canvas, content: &PictureContent) {
        let unit = self.height as f64 / 100.0;
        let pixel = |p: &Vec3| self.pixel(content.transform.point(p));
        let marks = &content.now.marks;
        let bones: Vec<[[f64; 2]; 2]> =
            marks.bones.iter().filter_map(|[from, to]| Some([pixel(from)?, pixel(to)?])).collect();
        // all dark edges first, so that bones that meet have one outline
        for (grown, color) in [(0.35 * unit, BONE_EDGE), (0.0, BONE)] {
            for [from, to] in &bones {
                let joint = 0.75 * unit + grown;
                canvas.stroke([*from, *to], [0.6 * unit + grown, 0.25 * unit + grown], color, 0.95);
                canvas.stroke([*from, *from], [joint; 2], color, 0.95);
            }
        }
        for arrow in &marks.arrows {
            if let [Some(from), Some(to)] = [pixel(&arrow.from), pixel(&arrow.to)] {
                draw_arrow(canvas, from, to, 0.35 * unit, arrow.color);
            }
        }
    }

    /// Projects a point in view axes to pixels; `None` behind the eye.
    fn pixel(&self, point: Vec3) -> Option<[f64; 2]> {
        let (x, y, _) = self.camera.project(point)?;
        Some([(x + 1.0) / 2.0 * self.width as f64, (1.0 - y) / 2.0 * self.height as f64])
    }
}

/// Draws a shaft and a head that is at most half as long as the arrow.
fn draw_arrow(canvas: &mut Canvas, from: [f64; 2], to: [f64; 2], radius: f64, color: [f32; 3]) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = (dx * dx + dy * dy).sqrt();
    if length.is_nan() || length <= 0.0 {
        return;
    }
    let head = (8.0 * radius).min(0.5 * length) / length;
    let neck = [to[0] - head * dx, to[1] - head * dy];
    canvas.stroke([from, neck], [radius; 2], color, 0.95);
    canvas.stroke([neck, to], [3.0 * radius, 0.0], color, 0.95);
}
