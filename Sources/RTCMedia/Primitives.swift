// Whoever handles frames handles times, sizes and rotations: one import brings them.
@_exported public import RTCPrimitives
