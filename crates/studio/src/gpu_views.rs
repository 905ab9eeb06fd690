//! Viewports on the graphics card, through the `wgpu` of the window.
//!
//! Each viewport has a picture of its own with four samples a pixel. Two shadow maps, along the key light and from above, are drawn for each, since lights turn with the camera.

use crate::view_painter::{ViewPainter, ViewScene};
use eframe::egui_wgpu::{RenderState, wgpu};
use sinew_render::{LiveMatrices, LiveMesh, LiveTopology, LiveVertex, OrbitCamera, Texture};
use std::sync::Arc;
use wgpu::util::DeviceExt as _;

const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Samples of a pixel.
const SAMPLES: u32 = 4;
/// Texels along one side of the shadow maps: along the key light, and from above.
const MAPS: [u32; 2] = [1024, 512];

/// The graphics card as a painter of viewports.
pub struct GpuViews {
    state: RenderState,
    layouts: [wgpu::BindGroupLayout; 3],
    backdrop: wgpu::RenderPipeline,
    solid: wgpu::RenderPipeline,
    glass: wgpu::RenderPipeline,
    maps: [wgpu::RenderPipeline; 2],
    map_sampler: wgpu::Sampler,
    image_sampler: wgpu::Sampler,
    white: wgpu::TextureView,
    targets: [Option<Target>; 4],
    parts: Option<Parts>,
    meshes: Option<Meshes>,
}

/// What a viewport is drawn into.
struct Target {
    size: [u32; 2],
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    color: wgpu::TextureView,
    id: egui::TextureId,
    maps: [wgpu::TextureView; 2],
    map_group: wgpu::BindGroup,
    view: wgpu::Buffer,
    view_group: wgpu::BindGroup,
}

/// Triangles and images of a scene.
struct Parts {
    of: Arc<LiveTopology>,
    indices: wgpu::Buffer,
    groups: Vec<wgpu::BindGroup>,
}

/// Vertices of a frame: now, under plain skinning, and later ones with their opacity.
struct Meshes {
    of: Arc<ViewScene>,
    now: wgpu::Buffer,
    skinned: Option<wgpu::Buffer>,
    later: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
}

impl GpuViews {
    /// Prepares a device.
    pub fn new(state: &RenderState) -> GpuViews {
        let device = &state.device;
        let layouts = [view_layout(device), map_layout(device), part_layout(device)];
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("viewports"),
            source: wgpu::ShaderSource::Wgsl(include_str!("gpu_views.wgsl").into()),
        });
        let build = PipelineBuilder { device, shader: &shader, layouts: &layouts };
        let white = image(device, &state.queue, &[([1, 1], vec![255; 4])]);
        GpuViews {
            backdrop: build.picture("backdrop", "paint_backdrop", Pass::Backdrop),
            solid: build.picture("surface", "paint_surface", Pass::Solid),
            glass: build.picture("surface", "paint_surface", Pass::Glass),
            maps: [build.map("in_key_map"), build.map("in_above_map")],
            map_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                compare: Some(wgpu::CompareFunction::LessEqual),
                ..wgpu::SamplerDescriptor::default()
            }),
            image_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                address_mode_u: wgpu::AddressMode::Repeat,
                address_mode_v: wgpu::AddressMode::Repeat,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..wgpu::SamplerDescriptor::default()
            }),
            white,
            layouts,
            targets: Default::default(),
            parts: None,
            meshes: None,
            state: state.clone(),
        }
    }

    /// A viewport's target of a size.
    fn target(&mut self, slot: usize, size: [u32; 2]) {
        if self.targets[slot].as_ref().is_some_and(|target| target.size == size) {
            return;
        }
        let device = &self.state.device;
        let texture = |format, size: [u32; 2], sample_count, usage| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("viewport"),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        let (drawn, read) = (wgpu::TextureUsages::RENDER_ATTACHMENT, wgpu::TextureUsages::TEXTURE_BINDING);
        let color = texture(COLOR, size, 1, drawn | read);
        let maps = MAPS.map(|side| texture(DEPTH, [side; 2], 1, drawn | read));
        let view = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<ViewUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let view_group = bind(device, &self.layouts[0], &[view.as_entire_binding()]);
        let map_group = bind(
            device,
            &self.layouts[1],
            &[
                wgpu::BindingResource::TextureView(&maps[0]),
                wgpu::BindingResource::TextureView(&maps[1]),
                wgpu::BindingResource::Sampler(&self.map_sampler),
            ],
        );
        let mut renderer = self.state.renderer.write();
        let filter = wgpu::FilterMode::Linear;
        let id = match &self.targets[slot] {
            Some(old) => {
                renderer.update_egui_texture_from_wgpu_texture(device, &color, filter, old.id);
                old.id
            }
            None => renderer.register_native_texture(device, &color, filter),
        };
        self.targets[slot] = Some(Target {
            size,
            samples: texture(COLOR, size, SAMPLES, drawn),
            depth: texture(DEPTH, size, SAMPLES, drawn),
            color,
            id,
            maps,
            map_group,
            view,
            view_group,
        });
    }

    /// How a part is drawn: its image, its opacity, whether it has shadows, and whether it is denser at grazing angles.
    fn part_group(&self, image: &wgpu::TextureView, opacity: f32, flags: [bool; 2]) -> wgpu::BindGroup {
        let [unshadowed, grazing] = flags.map(|holds| if holds { 1.0f32 } else { 0.0 });
        let device = &self.state.device;
        let numbers: Vec<u8> =
            [opacity, unshadowed, grazing, 0.0].iter().flat_map(|n: &f32| n.to_ne_bytes()).collect();
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("part"),
            contents: &numbers,
            usage: wgpu::BufferUsages::UNIFORM,
        });
        bind(
            device,
            &self.layouts[2],
            &[
                wgpu::BindingResource::TextureView(image),
                wgpu::BindingResource::Sampler(&self.image_sampler),
                uniform.as_entire_binding(),
            ],
        )
    }

    /// Uploads what is new of a scene.
    fn upload(&mut self, scene: &Arc<ViewScene>) {
        if self.meshes.as_ref().is_some_and(|meshes| Arc::ptr_eq(&meshes.of, scene)) {
            return;
        }
        if self.parts.as_ref().is_none_or(|parts| !Arc::ptr_eq(&parts.of, &scene.topology)) {
            self.parts = Some(self.upload_parts(&scene.topology));
        }
        let device = &self.state.device;
        let buffer = |mesh: &LiveMesh| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("vertices"),
                contents: &vertex_bytes(&mesh.vertices),
                usage: wgpu::BufferUsages::VERTEX,
            })
        };
        let count = scene.later.len();
        let later = scene.later.iter().enumerate().map(|(i, mesh)| {
            let opacity = 0.12 + 0.25 * (i + 1) as f32 / (count + 1) as f32;
            (buffer(mesh), self.part_group(&self.white, opacity, [true, false]))
        });
        self.meshes = Some(Meshes {
            of: scene.clone(),
            now: buffer(&scene.now),
            skinned: scene.skinned.as_ref().map(buffer),
            later: later.collect(),
        });
    }

    fn upload_parts(&self, topology: &Arc<LiveTopology>) -> Parts {
        let device = &self.state.device;
        let indices: Vec<u8> =
            topology.triangles.iter().flatten().flat_map(|index| index.to_ne_bytes()).collect();
        let indices = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("triangles"),
            contents: &indices,
            usage: wgpu::BufferUsages::INDEX,
        });
        let limit = device.limits().max_texture_dimension_2d as usize;
        let uploaded = |texture: &Texture| {
            let levels: Vec<([usize; 2], Vec<u8>)> =
                texture.levels().skip_while(|(size, _)| size.iter().any(|side| *side > limit)).collect();
            image(device, &self.state.queue, &levels)
        };
        let groups = topology.parts.iter().map(|part| {
            let is_glass = part.opacity < 1.0;
            match &part.texture {
                Some(texture) => self.part_group(&uploaded(texture), part.opacity, [is_glass; 2]),
                None => self.part_group(&self.white, part.opacity, [is_glass; 2]),
            }
        });
        Parts { of: topology.clone(), indices, groups: groups.collect() }
    }

    /// Draws a viewport from what is uploaded.
    fn draw(&self, target: &Target, meshes: &Meshes, parts: &Parts, is_skinned: bool) {
        let vertices = meshes.skinned.as_ref().filter(|_| is_skinned).unwrap_or(&meshes.now);
        let mut encoder = self.state.device.create_command_encoder(&Default::default());
        for (pipeline, map) in self.maps.iter().zip(&target.maps) {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("shadow map"),
                depth_stencil_attachment: Some(depth_attachment(map, wgpu::StoreOp::Store)),
                ..Default::default()
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &target.view_group, &[]);
            pass.set_vertex_buffer(0, vertices.slice(..));
            pass.set_index_buffer(parts.indices.slice(..), wgpu::IndexFormat::Uint32);
            for part in parts.of.parts.iter().filter(|part| part.moves && part.opacity >= 1.0) {
                pass.draw_indexed(3 * part.triangles.start..3 * part.triangles.end, 0, 0..1);
            }
        }

        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("viewport"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.samples,
                resolve_target: Some(&target.color),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Discard,
                },
                depth_slice: None,
            })],
            depth_stencil_attachment: Some(depth_attachment(&target.depth, wgpu::StoreOp::Discard)),
            ..Default::default()
        });
        pass.set_bind_group(0, &target.view_group, &[]);
        pass.set_bind_group(1, &target.map_group, &[]);
        pass.set_pipeline(&self.backdrop);
        pass.draw(0..3, 0..1);
        pass.set_index_buffer(parts.indices.slice(..), wgpu::IndexFormat::Uint32);

        // solid surfaces, what will be later, and glass
        let mut draw_parts = |pipeline: &wgpu::RenderPipeline,
                              vertices: &wgpu::Buffer,
                              wants: &dyn Fn(usize) -> bool,
                              group: Option<&wgpu::BindGroup>| {
            pass.set_pipeline(pipeline);
            pass.set_vertex_buffer(0, vertices.slice(..));
            for (i, part) in parts.of.parts.iter().enumerate().filter(|(i, _)| wants(*i)) {
                pass.set_bind_group(2, group.unwrap_or(&parts.groups[i]), &[]);
                pass.draw_indexed(3 * part.triangles.start..3 * part.triangles.end, 0, 0..1);
            }
        };
        let is_solid = |i: usize| parts.of.parts[i].opacity >= 1.0;
        draw_parts(&self.solid, vertices, &is_solid, None);
        for (later, group) in &meshes.later {
            draw_parts(&self.glass, later, &|i| is_solid(i) && parts.of.parts[i].moves, Some(group));
        }
        draw_parts(&self.glass, vertices, &|i| !is_solid(i), None);
        drop(pass);
        self.state.queue.submit([encoder.finish()]);
    }
}

impl ViewPainter for GpuViews {
    fn paint(
        &mut self,
        slot: usize,
        scene: &Arc<ViewScene>,
        is_skinned: bool,
        camera: &OrbitCamera,
        size: [usize; 2],
    ) -> egui::TextureId {
        let limit = self.state.device.limits().max_texture_dimension_2d as usize;
        let size = size.map(|side| side.clamp(1, limit) as u32);
        self.target(slot, size);
        self.upload(scene);
        let mesh = scene.skinned.as_ref().filter(|_| is_skinned).unwrap_or(&scene.now);
        let matrices = camera.matrices(f64::from(size[0]) / f64::from(size[1]), mesh);
        let (Some(target), Some(meshes), Some(parts)) = (&self.targets[slot], &self.meshes, &self.parts)
        else {
            return egui::TextureId::default();
        };
        self.state.queue.write_buffer(&target.view, 0, &ViewUniform::of(&matrices, mesh.ground).bytes());
        if !scene.now.vertices.is_empty() && !parts.of.triangles.is_empty() {
            self.draw(target, meshes, parts, is_skinned);
        }
        target.id
    }
}

/// The uniform `View` of the shader.
#[repr(C)]
struct ViewUniform([[f32; 4]; 19]);

impl ViewUniform {
    fn of(matrices: &LiveMatrices, ground: f32) -> ViewUniform {
        let row = |v: &sinew_math::Vec3, w: f32| [v.x as f32, v.y as f32, v.z as f32, w];
        let LiveMatrices { picture, key, above, eye, axes, lights, size } = matrices;
        let mut rows = [[0.0; 4]; 19];
        for (i, matrix) in [picture, key, above].into_iter().enumerate() {
            rows[4 * i..4 * i + 4].copy_from_slice(matrix);
        }
        rows[12] = row(eye, ground);
        rows[13] = row(&lights[0], *size as f32);
        rows[14] = row(&lights[1], 0.0);
        rows[15] = row(&lights[2], 0.0);
        for (i, axis) in axes.iter().enumerate() {
            rows[16 + i] = row(axis, 0.0);
        }
        ViewUniform(rows)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flatten().flat_map(|number| number.to_ne_bytes()).collect()
    }
}

/// Vertices in the order of the shader's locations.
fn vertex_bytes(vertices: &[LiveVertex]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(vertices));
    for LiveVertex { point, normal, color, uv } in vertices {
        let numbers = point.iter().chain(normal).chain(color).chain(uv);
        numbers.for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
    }
    bytes
}

/// An image with its mip levels.
fn image(device: &wgpu::Device, queue: &wgpu::Queue, levels: &[([usize; 2], Vec<u8>)]) -> wgpu::TextureView {
    let extent = |size: &[usize; 2]| wgpu::Extent3d {
        width: size[0].max(1) as u32,
        height: size[1].max(1) as u32,
        depth_or_array_layers: 1,
    };
    let first = levels.first().map_or([1, 1], |(size, _)| *size);
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("image"),
        size: extent(&first),
        mip_level_count: levels.len().max(1) as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, (size, bytes)) in levels.iter().enumerate() {
        let place = wgpu::TexelCopyTextureInfo { mip_level: level as u32, ..texture.as_image_copy() };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * size[0] as u32),
            rows_per_image: None,
        };
        queue.write_texture(place, bytes, layout, extent(size));
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn depth_attachment(
    view: &wgpu::TextureView,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store });
    wgpu::RenderPassDepthStencilAttachment { view, depth_ops: ops, stencil_ops: None }
}

fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry<'_>> = resources
        .iter()
        .enumerate()
        .map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource: resource.clone() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

fn layout(device: &wgpu::Device, types: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = types
        .iter()
        .enumerate()
        .map(|(i, ty)| wgpu::BindGroupLayoutEntry {
            binding: i as u32,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: *ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}

const UNIFORM: wgpu::BindingType = wgpu::BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: false,
    min_binding_size: None,
};

fn view_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    layout(device, &[UNIFORM])
}

fn sampled(sample_type: wgpu::TextureSampleType) -> wgpu::BindingType {
    let view_dimension = wgpu::TextureViewDimension::D2;
    wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false }
}

fn map_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let map = sampled(wgpu::TextureSampleType::Depth);
    layout(device, &[map, map, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison)])
}

fn part_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let image = sampled(wgpu::TextureSampleType::Float { filterable: true });
    layout(device, &[image, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering), UNIFORM])
}

/// What a pipeline draws.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Backdrop,
    Solid,
    Glass,
}

struct PipelineBuilder<'a> {
    device: &'a wgpu::Device,
    shader: &'a wgpu::ShaderModule,
    layouts: &'a [wgpu::BindGroupLayout; 3],
}

impl PipelineBuilder<'_> {
    fn vertex_layout() -> wgpu::VertexBufferLayout<'static> {
        const ATTRIBUTES: [wgpu::VertexAttribute; 4] =
            wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4, 3 => Float32x2];
        wgpu::VertexBufferLayout {
            array_stride: size_of::<LiveVertex>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &ATTRIBUTES,
        }
    }

    fn layout(&self, groups: usize) -> wgpu::PipelineLayout {
        let groups: Vec<Option<&wgpu::BindGroupLayout>> = self.layouts[..groups].iter().map(Some).collect();
        self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups,
            immediate_size: 0,
        })
    }

    fn picture(&self, vertex: &str, fragment: &str, pass: Pass) -> wgpu::RenderPipeline {
        let layout = self.layout(if pass == Pass::Backdrop { 2 } else { 3 });
        let buffers = [Some(Self::vertex_layout())];
        let compare =
            if pass == Pass::Backdrop { wgpu::CompareFunction::Always } else { wgpu::CompareFunction::Less };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(fragment),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers: if pass == Pass::Backdrop { &[] } else { &buffers },
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(pass == Pass::Solid),
                depth_compare: Some(compare),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: self.shader,
                entry_point: Some(fragment),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: COLOR,
                    blend: (pass == Pass::Glass).then_some(wgpu::BlendState::ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    fn map(&self, vertex: &str) -> wgpu::RenderPipeline {
        let layout = self.layout(1);
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(vertex),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: self.shader,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers: &[Some(Self::vertex_layout())],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        })
    }
}
