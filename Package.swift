// swift-tools-version: 6.2
import PackageDescription

/// Every target: Swift 6 mode, warnings are errors, imports are internal unless said otherwise.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

/// Targets that face the network or hold state: every unsafe construct must be marked.
let safe: [SwiftSetting] = strict + [.strictMemorySafety()]

let package = Package(
  name: "rtcast",
  products: [],
  targets: [
    .target(name: "RTCPrimitives", swiftSettings: safe),
    .target(name: "RTCMedia", dependencies: ["RTCPrimitives"], swiftSettings: safe),
    .systemLibrary(name: "CYUV"),
    .systemLibrary(name: "CVPX"),
    .target(name: "RTCConvert", dependencies: ["RTCMedia", "CYUV"], swiftSettings: safe),
    .target(name: "RTCCodecVPX", dependencies: ["RTCMedia", "RTCPrimitives", "CVPX"], swiftSettings: safe),
    .target(name: "RTCast", dependencies: ["RTCPrimitives", "RTCMedia", "RTCConvert"], swiftSettings: safe),
    .testTarget(
      name: "RTCConvertTests", dependencies: ["RTCConvert", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCCodecVPXTests", dependencies: ["RTCCodecVPX", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCastTests", dependencies: ["RTCast", "RTCCodecVPX", "RTCMedia", "RTCPrimitives"],
      swiftSettings: strict),
    .testTarget(name: "RTCPrimitivesTests", dependencies: ["RTCPrimitives"], swiftSettings: strict),
  ]
)
