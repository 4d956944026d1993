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
  products: [
    .executable(name: "rtcast", targets: ["rtcast-cli"]),
    .library(
      name: "RTCast",
      targets: [
        "RTCast", "RTCMedia", "RTCPrimitives", "RTCPeer", "RTCNet", "RTCCapture", "RTCCaptureX11", "RTCCaptureCamera",
        "RTCCaptureFile", "RTCCapturePlugin", "RTCAudio", "RTCPlayout", "RTCWindow", "RTCSignaling", "RTCSignalingNIO",
      ]),
    // For the fuzzing and benchmark packages beside this one.
    .library(name: "RTCCapture", targets: ["RTCCapture"]),
    .library(name: "FuzzVideoBody", targets: ["FuzzVideoBody"]),
    .library(name: "RTCWire", targets: ["RTCWire"]),
    .library(name: "RTCSCTP", targets: ["RTCSCTP", "RTCPrimitives"]),
    .library(name: "RTCMedia", targets: ["RTCMedia"]),
    .library(name: "RTCSignaling", targets: ["RTCSignaling"]),
    .library(name: "RTCCaptureFile", targets: ["RTCCaptureFile"]),
    .library(name: "RTCPeer", targets: ["RTCPeer", "RTCEngine", "RTCSCTP"]),
    .library(name: "RTCPlayout", targets: ["RTCPlayout"]),
    .library(
      name: "RTCSound",
      targets: ["RTCAudio", "RTCPlayout", "RTCCodecOpus", "RTCEngine", "RTCMedia", "RTCPrimitives"]),
    .library(
      name: "RTCPictures", targets: ["RTCMedia", "RTCConvert", "RTCCodecVPX", "RTCCapture", "RTCPrimitives"]),
    .library(
      name: "RTCEngine",
      targets: [
        "RTCEngine", "RTCICE", "RTCDTLS", "RTCSRTP", "RTCSCTP", "RTCWire", "RTCNet", "RTCPrimitives", "RTCMedia",
        "RTCTestKit",
      ]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // C libraries: module maps and shims, each used by one owner.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CRTCastPlugin"),
    // Compiled with FFmpeg's headers, linked with none of its libraries: the first use loads them.
    .target(name: "CFFmpeg"),
    .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CSDL2", providers: [.apt(["libsdl2-dev"])]),
    .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
    .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    // Not a bare module map: usrsctp's clock, random numbers and state are taken in hand there.
    .target(name: "CUsrsctp", linkerSettings: [.linkedLibrary("usrsctp")]),
    .systemLibrary(name: "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
    .systemLibrary(
      name: "CX11", pkgConfig: "xcb-damage",
      providers: [
        .apt([
          "libxcb1-dev", "libxcb-shm0-dev", "libxcb-damage0-dev", "libxcb-xfixes0-dev", "libxcb-randr0-dev",
          "libxcb-composite0-dev", "libxcb-xinput-dev",
        ])
      ]),
    .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),

    // Values, wire formats and media contracts.
    .target(name: "RTCPrimitives", swiftSettings: safe),
    .target(name: "RTCMedia", dependencies: ["RTCPrimitives"], swiftSettings: safe),
    .target(name: "RTCWire", dependencies: ["RTCPrimitives"], swiftSettings: safe),

    // The peer connection, sans-IO.
    .target(name: "RTCICE", dependencies: ["RTCPrimitives", "RTCWire"], swiftSettings: safe),
    .target(name: "RTCDTLS", dependencies: ["RTCPrimitives", "COpenSSL"], swiftSettings: safe),
    .target(name: "RTCSRTP", dependencies: ["RTCPrimitives", "CSRTP"], swiftSettings: safe),
    .target(name: "RTCSCTP", dependencies: ["RTCPrimitives", "RTCWire", "CUsrsctp"], swiftSettings: safe),
    .target(
      name: "RTCEngine",
      dependencies: ["RTCPrimitives", "RTCWire", "RTCMedia", "RTCICE", "RTCDTLS", "RTCSRTP", "RTCSCTP"],
      swiftSettings: safe),

    // From packets to sound, with any decoder.
    .target(
      name: "RTCPlayout", dependencies: ["RTCPrimitives", "RTCWire", "RTCMedia", "RTCEngine", "RTCNet"],
      swiftSettings: safe),

    // Sockets, clocks and the public peer connection.
    .target(name: "RTCNet", dependencies: ["RTCPrimitives", "CLinux"], swiftSettings: safe),
    .target(
      name: "RTCPeer",
      dependencies: [
        "RTCPrimitives", "RTCWire", "RTCMedia", "RTCICE", "RTCDTLS", "RTCSCTP", "RTCEngine", "RTCNet", "RTCPlayout",
      ],
      swiftSettings: safe),

    // Capturers.
    .target(name: "RTCCapture", dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "CLinux"], swiftSettings: safe),
    .target(
      name: "RTCCaptureX11", dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "CLinux", "CX11"],
      swiftSettings: strict),

    .target(
      name: "RTCCaptureFile",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCWire", "RTCNet", "RTCCapture", "RTCCodecFFmpeg", "CFFmpeg"],
      swiftSettings: strict),

    .target(
      name: "RTCCapturePlugin",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "CLinux", "CRTCastPlugin"],
      swiftSettings: safe),
    .target(
      name: "RTCAudio", dependencies: ["RTCMedia", "RTCPrimitives", "RTCNet", "CPulse"], swiftSettings: strict),

    .target(
      name: "RTCCaptureCamera",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "RTCConvert", "CLinux"],
      swiftSettings: strict),

    // What received video is shown in.
    .target(
      name: "RTCWindow", dependencies: ["RTCMedia", "RTCConvert", "RTCNet", "CLinux", "CSDL2"], swiftSettings: strict),

    // Codecs and colour.
    // Decoders of what comes over the network and out of files. FFmpeg's containers are RTCCaptureFile's.
    .target(
      name: "RTCCodecFFmpeg", dependencies: ["RTCPrimitives", "RTCWire", "RTCMedia", "CFFmpeg"], swiftSettings: strict),
    .target(name: "RTCConvert", dependencies: ["RTCMedia", "CYUV"], swiftSettings: safe),
    .target(name: "RTCCodecVPX", dependencies: ["RTCMedia", "RTCPrimitives", "CVPX"], swiftSettings: safe),
    .target(
      name: "RTCResample", dependencies: ["RTCMedia", "RTCPrimitives", "CSpeexDSP"], swiftSettings: strict),
    .target(name: "RTCCodecOpus", dependencies: ["RTCMedia", "RTCWire", "COpus"], swiftSettings: strict),

    // Signaling.
    .target(name: "RTCSignaling", dependencies: ["RTCPrimitives"], swiftSettings: safe),
    .target(
      name: "RTCSignalingNIO",
      dependencies: [
        "RTCPrimitives", "RTCSignaling",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [.embedInCode("Resources/viewer.html")]
        + ["hub.html", "hub.css", "line.js", "media.js", "call.js", "board.js", "tiles.js", "sounds.js", "page.js"]
        .map { .embedInCode("Resources/hub/\($0)") },
      swiftSettings: strict),

    // What an application imports, and the program.
    .target(
      name: "RTCast",
      dependencies: [
        "RTCPrimitives", "RTCWire", "RTCMedia", "RTCConvert", "RTCResample", "RTCCodecFFmpeg", "RTCCodecVPX",
        "RTCCodecOpus", "RTCEngine", "RTCNet", "RTCPeer", "RTCPlayout", "RTCSCTP", "RTCSignaling", "RTCSignalingNIO",
      ],
      swiftSettings: safe),
    .executableTarget(
      name: "rtcast-cli",
      dependencies: [
        "CQREncode", "RTCPrimitives", "RTCMedia", "RTCAudio", "RTCCapture", "RTCCaptureCamera", "RTCCaptureFile",
        "RTCCapturePlugin", "RTCCaptureX11", "RTCDTLS", "RTCEngine", "RTCNet", "RTCPeer", "RTCSCTP", "RTCSignaling",
        "RTCSignalingNIO", "RTCWindow", "RTCast",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // Tests.
    .target(
      name: "RTCTestKit",
      dependencies: ["RTCPrimitives", "RTCWire", "RTCMedia", "RTCICE", "RTCDTLS", "RTCSCTP", "RTCEngine"],
      swiftSettings: safe),
    // Here and not in the fuzzing package, for it looks behind what the engine shows to others.
    .target(
      name: "FuzzVideoBody", dependencies: ["RTCEngine", "RTCMedia", "RTCPrimitives"],
      path: "Fuzz/Sources/FuzzVideoBody", swiftSettings: strict),
    .testTarget(name: "RTCPrimitivesTests", dependencies: ["RTCPrimitives"], swiftSettings: strict),
    .testTarget(name: "RTCMediaTests", dependencies: ["RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCWireTests",
      dependencies: [
        "RTCWire", "RTCMedia", "RTCCapture", "RTCCaptureFile", "RTCEngine", "RTCPlayout", "RTCPrimitives",
        "RTCSignaling", "FuzzVideoBody",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCICETests", dependencies: ["RTCICE", "RTCWire", "RTCPrimitives", "RTCTestKit"], swiftSettings: strict),
    .testTarget(name: "RTCDTLSTests", dependencies: ["RTCDTLS", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(name: "RTCSRTPTests", dependencies: ["RTCSRTP", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCSCTPTests", dependencies: ["RTCSCTP", "RTCWire", "RTCPrimitives", "RTCTestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCEngineTests",
      dependencies: [
        "RTCEngine", "RTCTestKit", "RTCICE", "RTCDTLS", "RTCSRTP", "RTCSCTP", "RTCMedia", "RTCWire", "RTCPrimitives",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCPlayoutTests",
      dependencies: [
        "RTCPlayout", "RTCEngine", "RTCCodecOpus", "RTCCodecVPX", "RTCMedia", "RTCNet", "RTCWire", "RTCPrimitives",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCPeerTests",
      dependencies: ["RTCPeer", "RTCEngine", "RTCSCTP", "RTCMedia", "RTCTestKit", "RTCPrimitives"],
      swiftSettings: strict),
    .executableTarget(
      name: "DataChannelProbe", dependencies: ["RTCPeer", "RTCEngine", "RTCSCTP"], path: "Tests/DataChannelProbe",
      swiftSettings: strict),
    .testTarget(name: "RTCTestKitTests", dependencies: ["RTCTestKit", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(name: "RTCNetTests", dependencies: ["RTCNet", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureTests",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "RTCTestKit", "ProcessKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureFileTests",
      dependencies: [
        "RTCCaptureFile", "RTCCodecFFmpeg", "RTCCodecVPX", "RTCWire", "RTCMedia", "RTCPrimitives", "ProcessKit",
        "CFFmpeg",
      ],
      swiftSettings: strict),
    .target(
      name: "ProcessKit", dependencies: ["RTCNet", "CLinux"], path: "Tests/ProcessKit", swiftSettings: strict),
    .testTarget(name: "ProcessKitTests", dependencies: ["ProcessKit"], swiftSettings: strict),
    .target(
      name: "XvfbKit", dependencies: ["ProcessKit", "RTCMedia", "CX11"], path: "Tests/XvfbKit", swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureX11Tests",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCCapture", "RTCCaptureX11", "RTCTestKit", "XvfbKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureCameraTests", dependencies: ["RTCCaptureCamera", "RTCMedia", "RTCTestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCWindowTests",
      dependencies: ["RTCWindow", "RTCMedia", "RTCPrimitives", "RTCCaptureX11", "RTCTestKit", "XvfbKit"],
      swiftSettings: strict),
    .executableTarget(
      name: "PluginHostProbe", dependencies: ["RTCCapturePlugin", "CLinux"], path: "Tests/PluginHostProbe",
      swiftSettings: strict),
    .testTarget(
      name: "RTCCapturePluginTests",
      dependencies: ["RTCCapturePlugin", "PluginHostProbe", "RTCMedia", "RTCPrimitives", "ProcessKit"],
      exclude: ["Plugins"], swiftSettings: strict),
    .testTarget(
      name: "RTCAudioTests", dependencies: ["RTCAudio", "RTCMedia", "RTCPrimitives", "ProcessKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCResampleTests", dependencies: ["RTCResample", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCConvertTests", dependencies: ["RTCConvert", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCCodecVPXTests", dependencies: ["RTCCodecVPX", "RTCConvert", "RTCMedia", "RTCPrimitives"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCodecOpusTests", dependencies: ["RTCCodecOpus", "RTCWire", "RTCMedia"], swiftSettings: strict),
    .testTarget(
      name: "RTCSignalingTests", dependencies: ["RTCSignaling", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCSignalingNIOTests",
      dependencies: [
        "RTCPrimitives", "RTCSignaling", "RTCSignalingNIO",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCastTests",
      dependencies: [
        "RTCast", "RTCCapture", "RTCCodecVPX", "RTCCodecOpus", "RTCEngine", "RTCWire", "RTCMedia", "RTCNet", "RTCPeer",
        "RTCPrimitives", "RTCSCTP", "RTCSignaling", "RTCSignalingNIO", "RTCTestKit", "ProcessKit",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCastCLITests",
      dependencies: [
        "rtcast-cli", "RTCMedia", "RTCSignaling",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
  ]
)
