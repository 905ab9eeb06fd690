// Viewports on the graphics card: the lights of the software renderer, with shadow maps in place of its ambient occlusion.

struct View {
    picture: mat4x4<f32>,
    key_map: mat4x4<f32>,
    above_map: mat4x4<f32>,
    // the eye (m), and the height of the ground
    eye: vec4<f32>,
    // directions towards the lights; the first with the size of what moves (m)
    key: vec4<f32>,
    fill: vec4<f32>,
    rim: vec4<f32>,
    // axes of the picture: half of it to the right and up at a distance of 1, and towards the eye
    right: vec4<f32>,
    up: vec4<f32>,
    back: vec4<f32>,
};

struct Part {
    // opacity, and 1 for surfaces without shadows
    opacity: f32,
    unshadowed: f32,
    unused: vec2<f32>,
};

@group(0) @binding(0) var<uniform> view: View;
@group(1) @binding(0) var key_depths: texture_depth_2d;
@group(1) @binding(1) var above_depths: texture_depth_2d;
@group(1) @binding(2) var depth_sampler: sampler_comparison;
@group(2) @binding(0) var image: texture_2d<f32>;
@group(2) @binding(1) var image_sampler: sampler;
@group(2) @binding(2) var<uniform> part: Part;

const WARM = vec3<f32>(1.0, 0.95, 0.88);
const COOL = vec3<f32>(0.86, 0.93, 1.0);
const BOUNCE = vec3<f32>(1.0, 0.96, 0.92);
const WRAP = vec3<f32>(0.34, 0.22, 0.18);
const MIDDLE = vec3<f32>(0.80, 0.815, 0.835);
const CORNERS = vec3<f32>(0.60, 0.625, 0.66);

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
    @location(3) uv: vec2<f32>,
};

struct Fragment {
    @builtin(position) place: vec4<f32>,
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
    @location(3) uv: vec2<f32>,
};

// --- shadow maps

@vertex
fn in_key_map(@location(0) position: vec3<f32>) -> @builtin(position) vec4<f32> {
    return view.key_map * vec4<f32>(position, 1.0);
}

@vertex
fn in_above_map(@location(0) position: vec3<f32>) -> @builtin(position) vec4<f32> {
    return view.above_map * vec4<f32>(position, 1.0);
}

// The lit fraction of (2 n + 1)² samples, `spread` of the map to either side; 1 beyond the map. With a bias of −1 all that is in the map casts a shadow.
fn lit(depths: texture_depth_2d, at: vec4<f32>, spread: f32, n: i32, bias: f32) -> f32 {
    let uv = vec2<f32>(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y);
    // nothing is as deep as an empty texel
    let depth = min(at.z - bias, 0.9999);
    var sum = 0.0;
    for (var i = -n; i <= n; i++) {
        for (var j = -n; j <= n; j++) {
            let tap = uv + vec2<f32>(f32(i), f32(j)) * (spread / f32(n));
            let seen = textureSampleCompareLevel(depths, depth_sampler, tap, depth);
            let is_within = all(tap >= vec2<f32>(0.0)) && all(tap <= vec2<f32>(1.0));
            sum += select(1.0, seen, is_within);
        }
    }
    return sum / f32((2 * n + 1) * (2 * n + 1));
}

// --- the background, with shadows on the ground

struct Backdrop {
    @builtin(position) place: vec4<f32>,
    @location(0) at: vec2<f32>,
};

@vertex
fn backdrop(@builtin(vertex_index) i: u32) -> Backdrop {
    let corner = vec2<f32>(f32((i << 1u) & 2u), f32(i & 2u)) * 2.0 - 1.0;
    return Backdrop(vec4<f32>(corner, 1.0, 1.0), corner);
}

@fragment
fn paint_backdrop(in: Backdrop) -> @location(0) vec4<f32> {
    let outwards = smoothstep(0.0, 1.6, length(in.at + vec2<f32>(0.0, 0.1)));
    var color = mix(MIDDLE, CORNERS, outwards);
    let ray = in.at.x * view.right.xyz + in.at.y * view.up.xyz - view.back.xyz;
    let distance = (view.eye.w - view.eye.y) / ray.y;
    if ray.y < 0.0 && distance > 0.0 {
        let ground = vec4<f32>(view.eye.xyz + ray * distance, 1.0);
        let key = 1.0 - lit(key_depths, view.key_map * ground, 0.02, 1, -1.0);
        let sky = 1.0 - lit(above_depths, view.above_map * ground, 0.07, 2, -1.0);
        let inside = smoothstep(0.0, 1.0, (1.0 - max(abs(in.at.x), abs(in.at.y))) / 0.2);
        let shadow = 1.0 - (1.0 - 0.30 * key) * (1.0 - 0.5 * sky);
        color *= 1.0 - inside * shadow;
    }
    return vec4<f32>(encode(color), 1.0);
}

// --- surfaces

@vertex
fn surface(in: Vertex) -> Fragment {
    return Fragment(view.picture * vec4<f32>(in.position, 1.0), in.position, in.normal, in.color, in.uv);
}

@fragment
fn paint_surface(in: Fragment) -> @location(0) vec4<f32> {
    let texel = textureSample(image, image_sampler, in.uv).rgb;
    let across = cross(dpdx(in.position), dpdy(in.position));
    let towards_eye = normalize(view.eye.xyz - in.position);
    let front = across * sign(dot(across, towards_eye));
    var normal = normalize(in.normal);
    // the back faces of open surfaces are lit from their side
    normal = select(normal, -normal, dot(normal, front) < 0.0);
    let color = in.color.rgb * mix(vec3<f32>(1.0), texel, in.color.a);

    if part.unshadowed > 0.5 {
        let key = max((dot(normal, view.key.xyz) + 0.3) / 1.3, 0.0);
        let sky = 0.5 + 0.5 * normal.y;
        let shaded = color * (0.8 * key * WARM + 0.5 * sky * COOL + 0.1);
        let grazing = 1.0 - min(abs(dot(normal, towards_eye)), 1.0);
        let glass = part.opacity + (1.0 - part.opacity) * pow(grazing, 4.0) * part.unused.x;
        return vec4<f32>(encode(shaded), glass);
    }

    let outside = vec4<f32>(in.position + normal * (0.010 * view.key.w), 1.0);
    let facing = dot(normal, view.key.xyz);
    var lit_key = 0.0;
    if facing > -0.4 {
        lit_key = lit(key_depths, view.key_map * outside, 0.008, 1, 0.006);
    }
    let key = max((vec3<f32>(facing) + WRAP) / (1.0 + WRAP), vec3<f32>(0.0)) * lit_key;
    let open = lit(above_depths, view.above_map * outside, 0.04, 1, 0.01);
    let sky = (0.5 + 0.5 * normal.y) * (0.45 + 0.55 * open);
    let fill = max((dot(normal, view.fill.xyz) + 0.3) / 1.3, 0.0);
    let below = (0.5 - 0.5 * normal.y) * (0.35 + 0.65 * sky);
    let grazing = 1.0 - clamp(dot(normal, towards_eye), 0.0, 1.0);
    let rim = grazing * grazing * grazing * max(dot(normal, view.rim.xyz) + 0.25, 0.0);
    let half_way = normalize(view.key.xyz + towards_eye);
    let cosine = max(dot(normal, half_way), 0.0);
    let specular = (0.35 * pow(cosine, 12.0) + pow(cosine, 48.0)) * lit_key;
    let sheen = pow(grazing, 4.0) * sky;
    let shaded = color * (0.86 * key * WARM + (0.07 * fill + 0.36 * sky) * COOL + 0.12 * below * BOUNCE)
        + 0.13 * specular * WARM + (0.26 * rim + 0.05 * sheen) * COOL;
    return vec4<f32>(encode(shaded), 1.0);
}

// sRGB, with highlights compressed rather than clipped
fn encode(linear: vec3<f32>) -> vec3<f32> {
    let over = max(linear - 0.8, vec3<f32>(0.0));
    let compressed = min(max(linear, vec3<f32>(0.0)), vec3<f32>(0.8)) + 0.2 * over / (over + 0.2);
    let low = 12.92 * compressed;
    let high = 1.055 * pow(max(compressed, vec3<f32>(1e-6)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, low, compressed <= vec3<f32>(0.0031308));
}
