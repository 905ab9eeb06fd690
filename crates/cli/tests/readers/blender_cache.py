"""A point cache on the mesh of the original file: imports a glTF file and adds the Mesh Cache modifier with a cache to an object of it. Prints the
vertices of the original, then for each frame asked for those of the cache, in the space of the object and in the world, in the axes of glTF."""
import sys
import bpy

original, name, cache, fps, frames = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), [int(frame) for frame in sys.argv[5:]]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = fps
bpy.ops.import_scene.gltf(filepath=original)
shown = bpy.data.objects[name]


def line(word, places):
    print(word, " ".join(f"{x!r} {z!r} {-y!r}" for x, y, z in places))


line("original", [vertex.co for vertex in shown.data.vertices])
# after the armature, which it replaces
modifier = shown.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format, modifier.filepath = cache.rsplit(".", 1)[1].upper(), cache
# from the axes of glTF to those of Blender
modifier.forward_axis, modifier.up_axis = "POS_Z", "NEG_Y"
modifier.frame_start = 0
for frame in frames:
    bpy.context.scene.frame_set(frame)
    evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
    vertices = [vertex.co for vertex in evaluated.to_mesh().vertices]
    line("own", vertices)
    line("world", [evaluated.matrix_world @ vertex for vertex in vertices])
