"""Vertices of a mesh of a GLB file as Blender plays its first clip, in the axes of glTF: one line of numbers for each frame asked for. The name * stands for all meshes, in the order of the file's nodes."""
import sys
import bpy
from blender_glb import document_of, load, meshes, print_frame

path, name, fps, direction = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
load(path, fps, direction)
objects = meshes(document_of(path)[0]) if name == "*" else [bpy.data.objects[name]]
for frame in sys.argv[5:]:
    print_frame(objects, float(frame))
