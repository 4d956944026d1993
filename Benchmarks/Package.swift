// swift-tools-version: 6.2
import PackageDescription

/// Measurements that stand beside the product: built in release mode, run by hand and before a release.
let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "rtcast", path: "..")],
  targets: [
    // Counts calls of malloc and its kin; must be linked into the executable that is measured.
    .target(name: "CAllocationCount"),
    .target(name: "Metering", dependencies: ["CAllocationCount"], swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "SendPathBenchmark", dependencies: ["Metering", .product(name: "RTCEngine", package: "rtcast")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")]),
    .executableTarget(
      name: "ReceivePathBenchmark", dependencies: ["Metering", .product(name: "RTCEngine", package: "rtcast")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")]),
    .executableTarget(
      name: "DataChannelBenchmark", dependencies: [.product(name: "RTCPeer", package: "rtcast")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "SoundBenchmark", dependencies: [.product(name: "RTCSound", package: "rtcast")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "PictureBenchmark", dependencies: [.product(name: "RTCPictures", package: "rtcast")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")]),
  ]
)
