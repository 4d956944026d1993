// Code that handles frames needs times, sizes and rotations: one import brings them.
@_exported public import RTCPrimitives
