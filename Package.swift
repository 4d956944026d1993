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
    .target(name: "RTCWire", dependencies: ["RTCPrimitives"], swiftSettings: safe),
    .target(name: "RTCIce", dependencies: ["RTCPrimitives", "RTCWire"], swiftSettings: safe),
    .target(name: "RTCTestKit", dependencies: ["RTCPrimitives"], swiftSettings: safe),
    .testTarget(name: "RTCPrimitivesTests", dependencies: ["RTCPrimitives"], swiftSettings: strict),
    .testTarget(name: "RTCWireTests", dependencies: ["RTCWire", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCIceTests", dependencies: ["RTCIce", "RTCWire", "RTCPrimitives", "RTCTestKit"], swiftSettings: strict),
    .testTarget(name: "RTCTestKitTests", dependencies: ["RTCTestKit", "RTCPrimitives"], swiftSettings: strict),
  ]
)
