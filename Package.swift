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

/// C of our own: libc checks the lengths that the compiler knows. What else hardens a program needs flags that a package which
/// others depend on may not set: `scripts/release` builds with them.
let fortified: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

let package = Package(
  name: "rtcast",
  products: [
    .executable(name: "rtcast", targets: ["rtcast-main"]),
    // What applications import, and beside it the sources and windows that they pick.
    .library(name: "RTCast", targets: ["RTCast"]),
    .library(name: "RTCCapture", targets: ["RTCCapture"]),
    .library(name: "RTCCaptureX11", targets: ["RTCCaptureX11"]),
    .library(name: "RTCCaptureWayland", targets: ["RTCCaptureWayland"]),
    .library(name: "RTCCapturePortal", targets: ["RTCCapturePortal"]),
    .library(name: "RTCCaptureCamera", targets: ["RTCCaptureCamera"]),
    .library(name: "RTCCaptureFile", targets: ["RTCCaptureFile"]),
    .library(name: "RTCCapturePlugin", targets: ["RTCCapturePlugin"]),
    .library(name: "RTCAudio", targets: ["RTCAudio"]),
    .library(name: "RTCWindow", targets: ["RTCWindow"]),
  ],
  traits: [
    .trait(
      name: "X264",
      description: "H.264 is encoded, by libx264, which is under the GPL, version 2 or later: what is built so is too."),
    .default(enabledTraits: ["X264"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // C libraries: module maps and shims, each used by one owner.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CRTCastPlugin"),
    // Compiled with FFmpeg's headers, linked with none of its libraries: the first use loads them.
    .target(name: "CFFmpeg", cSettings: fortified),
    // Likewise libwayland-client. `scripts/wayland-protocols` generates the code in `protocol`.
    .target(
      name: "CWayland", exclude: ["protocol/wlr-screencopy-unstable-v1.xml"], cSettings: fortified),
    // And libpipewire-0.3, with libspa's headers, and libsystemd.
    .systemLibrary(name: "CSPA", pkgConfig: "libspa-0.2", providers: [.apt(["libspa-0.2-dev"])]),
    .target(name: "CPipeWire", dependencies: ["CSPA"], cSettings: fortified),
    .target(name: "CSystemdBus", cSettings: fortified),
    .systemLibrary(name: "CAOM", pkgConfig: "aom", providers: [.apt(["libaom-dev"])]),
    .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CSDL2", providers: [.apt(["libsdl2-dev"])]),
    .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
    // Linked statically, and so without pkg-config: libvpx takes its memory by CVPXMemory.
    .systemLibrary(name: "CVPX", providers: [.apt(["libvpx-dev"])]),
    .target(name: "CVPXMemory", cSettings: fortified),
    .systemLibrary(
      name: "CX11", pkgConfig: "xcb-damage",
      providers: [
        .apt([
          "libxcb1-dev", "libxcb-shm0-dev", "libxcb-damage0-dev", "libxcb-xfixes0-dev", "libxcb-randr0-dev",
          "libxcb-composite0-dev", "libxcb-xinput-dev",
        ])
      ]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    // Without pkg-config, which would warn of its absence where the trait is off.
    .systemLibrary(name: "CX264", providers: [.apt(["libx264-dev"])]),
    .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),

    // Values, wire formats and media contracts.
    .target(name: "RTCPrimitives", swiftSettings: safe),
    .target(name: "RTCMedia", dependencies: ["RTCPrimitives", "CLinux"], swiftSettings: safe),
    .target(name: "RTCWire", dependencies: ["RTCPrimitives"], swiftSettings: safe),

    // The peer connection, sans-IO.
    .target(name: "RTCICE", dependencies: ["RTCPrimitives", "RTCWire"], swiftSettings: safe),
    .target(name: "RTCDTLS", dependencies: ["RTCPrimitives", "COpenSSL"], swiftSettings: safe),
    .target(name: "RTCSRTP", dependencies: ["RTCPrimitives", "COpenSSL"], swiftSettings: safe),
    .target(name: "RTCSCTP", dependencies: ["RTCPrimitives", "RTCWire"], swiftSettings: safe),
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
        "CLinux",
      ],
      swiftSettings: safe),

    // Capturers.
    .target(
      name: "RTCCapture", dependencies: ["RTCPrimitives", "RTCMedia", "RTCWire", "RTCNet", "CLinux"],
      swiftSettings: safe),
    .target(
      name: "RTCCaptureX11", dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "CLinux", "CX11"],
      swiftSettings: strict),
    .target(
      name: "RTCCaptureWayland",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "CLinux", "CWayland"],
      swiftSettings: strict),
    .target(
      name: "RTCCapturePortal",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "CPipeWire", "CSystemdBus"],
      swiftSettings: strict),

    .target(
      name: "RTCCaptureFile",
      dependencies: [
        "RTCPrimitives", "RTCMedia", "RTCWire", "RTCNet", "RTCCapture", "RTCCodecFFmpeg", "RTCIsolation", "CFFmpeg",
        "CLinux",
      ],
      swiftSettings: strict),

    // Processes of our own that plugins and decoders run in.
    .target(
      name: "RTCIsolation", dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "CLinux"], swiftSettings: safe),
    .target(
      name: "RTCCapturePlugin",
      dependencies: ["RTCPrimitives", "RTCMedia", "RTCNet", "RTCCapture", "RTCIsolation", "CLinux", "CRTCastPlugin"],
      swiftSettings: safe),
    .target(
      name: "RTCAudio", dependencies: ["RTCMedia", "RTCPrimitives", "RTCNet", "CPulse"], swiftSettings: strict),

    .target(
      name: "RTCCaptureCamera",
      dependencies: [
        "RTCPrimitives", "RTCWire", "RTCMedia", "RTCNet", "RTCCapture", "RTCCodecFFmpeg", "RTCConvert", "CLinux",
      ],
      swiftSettings: strict),

    // What received video is shown in.
    .target(
      name: "RTCWindow", dependencies: ["RTCMedia", "RTCConvert", "RTCNet", "RTCPrimitives", "CSDL2"],
      swiftSettings: strict),

    // Codecs and colour.
    // Decoders of what comes over the network and out of files. FFmpeg's containers are RTCCaptureFile's.
    .target(
      name: "RTCCodecFFmpeg", dependencies: ["RTCWire", "RTCMedia", "CFFmpeg"], swiftSettings: strict),
    .target(name: "RTCConvert", dependencies: ["RTCMedia", "CYUV"], swiftSettings: safe),
    // The policy of all encoders: which parts of a picture are coded when, and how finely.
    .target(name: "RTCVideoCoding", dependencies: ["RTCMedia", "RTCPrimitives"], swiftSettings: safe),
    .target(
      name: "RTCCodecAOM", dependencies: ["RTCVideoCoding", "RTCMedia", "RTCWire", "CAOM"],
      swiftSettings: safe),
    // Empty without the trait X264.
    .target(
      name: "RTCCodecX264",
      dependencies: ["RTCVideoCoding", "RTCMedia", .target(name: "CX264", condition: .when(traits: ["X264"]))],
      swiftSettings: safe),
    .target(
      name: "RTCCodecVPX",
      dependencies: ["RTCConvert", "RTCMedia", "RTCPrimitives", "RTCVideoCoding", "CVPX", "CVPXMemory"],
      swiftSettings: safe),
    .target(
      name: "RTCCodecWebP", dependencies: ["RTCMedia", "RTCPrimitives", "CWebP"], swiftSettings: safe),
    // The features of the viewer page, sans-IO.
    .target(name: "RTCPage", dependencies: ["RTCMedia", "RTCPrimitives"], swiftSettings: safe),
    .target(
      name: "RTCResample", dependencies: ["RTCMedia", "RTCPrimitives", "CSpeexDSP"], swiftSettings: strict),
    .target(name: "RTCCodecOpus", dependencies: ["RTCMedia", "RTCWire", "COpus"], swiftSettings: safe),

    // Signaling.
    .target(name: "RTCSignaling", dependencies: ["RTCPrimitives", "RTCWire", "RTCDTLS"], swiftSettings: safe),
    .target(
      name: "RTCSignalingNIO",
      dependencies: [
        "CZlib", "RTCPrimitives", "RTCDTLS", "RTCSignaling",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [
        .embedInCode("Resources/viewer.html"), .embedInCode("Resources/viewer/exact.js"),
        .embedInCode("Resources/viewer/cursor.js"), .embedInCode("Resources/viewer/source.js"),
      ]
        + ["hub.html", "hub.css", "line.js", "media.js", "call.js", "board.js", "tiles.js", "sounds.js", "page.js"]
        .map { .embedInCode("Resources/hub/\($0)") }
        + ["wall", "pick"].flatMap { page in
          ["html", "css", "js"].map { .embedInCode("Resources/\(page)/\(page).\($0)") }
        },
      swiftSettings: safe),

    // What an application imports, and the program.
    .target(
      name: "RTCast",
      dependencies: [
        "RTCPrimitives", "RTCWire", "RTCMedia", "RTCConvert", "RTCResample", "RTCCodecAOM", "RTCCodecFFmpeg",
        "RTCCodecX264", "RTCCodecVPX", "RTCCodecOpus", "RTCCodecWebP", "RTCEngine", "RTCICE", "RTCIsolation",
        "RTCNet", "RTCPage", "RTCPeer", "RTCPlayout", "RTCSCTP",
        "RTCSignaling", "RTCSignalingNIO",
      ],
      swiftSettings: safe),
    .target(
      name: "rtcast-cli",
      dependencies: [
        "CPaths", "CQREncode", "CRTCastRun", "RTCPrimitives", "RTCMedia", "RTCAudio", "RTCCapture",
        "RTCCaptureCamera", "RTCCaptureFile", "RTCCapturePlugin", "RTCCapturePortal", "RTCCaptureWayland",
        "RTCCaptureX11", "RTCCodecFFmpeg", "RTCDTLS", "RTCEngine", "RTCIsolation", "RTCNet", "RTCPeer", "RTCSCTP",
        "RTCSignaling",
        "RTCSignalingNIO", "RTCWindow", "RTCast",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    .target(name: "CRTCastProgram", cSettings: fortified),
    .target(name: "CPaths", cSettings: fortified),
    .target(name: "CRTCastRun", cSettings: fortified),
    // Without what only debuggers want, which is more than half of it.
    .executableTarget(
      name: "rtcast-main", dependencies: ["rtcast-cli", "CRTCastProgram"], swiftSettings: safe,
      linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"], .when(configuration: .release))]),

    // Tests.
    .target(
      name: "RTCTestKit",
      dependencies: ["RTCPrimitives", "RTCWire", "RTCMedia", "RTCICE", "RTCDTLS", "RTCSCTP", "RTCEngine"],
      swiftSettings: safe),
    // What fuzzers run: the unit tests replay kept inputs over it.
    .target(
      name: "FuzzBodies",
      dependencies: [
        "RTCCapture", "RTCCaptureFile", "RTCEngine", "RTCMedia", "RTCNet", "RTCPage", "RTCPlayout",
        "RTCPrimitives", "RTCWire",
      ],
      path: "Fuzz/Sources/FuzzBodies", swiftSettings: strict),
    .target(
      name: "FuzzVideoBody", dependencies: ["RTCEngine", "RTCMedia", "RTCPrimitives"],
      path: "Fuzz/Sources/FuzzVideoBody", swiftSettings: strict),
    .target(
      name: "FuzzSCTPBody", dependencies: ["RTCPrimitives", "RTCSCTP", "RTCWire"], path: "Fuzz/Sources/FuzzSCTPBody",
      swiftSettings: strict),
    .target(
      name: "FuzzSRTPBody", dependencies: ["RTCPrimitives", "RTCSRTP"], path: "Fuzz/Sources/FuzzSRTPBody",
      swiftSettings: strict),
    // By themselves likewise: whole agents and peers, on virtual time.
    .target(
      name: "FuzzPeerBodies",
      dependencies: [
        "RTCDTLS", "RTCEngine", "RTCICE", "RTCMedia", "RTCPrimitives", "RTCSCTP", "RTCSRTP", "RTCTestKit", "RTCWire",
      ],
      path: "Fuzz/Sources/FuzzPeerBodies", swiftSettings: strict),
    // What servers, clients and the program read that others wrote.
    .target(
      name: "FuzzServerBodies",
      dependencies: [
        "RTCPeer", "RTCPrimitives", "RTCSignaling", "RTCSignalingNIO",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      path: "Fuzz/Sources/FuzzServerBodies", swiftSettings: strict),
    .target(
      name: "FuzzProgramBodies",
      dependencies: [
        "RTCCaptureFile", "RTCCapturePlugin", "RTCCaptureX11", "RTCIsolation", "RTCMedia", "RTCPrimitives", "RTCast",
        "rtcast-cli",
      ],
      path: "Fuzz/Sources/FuzzProgramBodies", swiftSettings: strict),
    // The table of all of them.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "FuzzBodies", "FuzzPeerBodies", "FuzzProgramBodies", "FuzzSCTPBody", "FuzzServerBodies", "FuzzSRTPBody",
        "FuzzVideoBody",
      ],
      path: "Fuzz/Sources/FuzzTargets", swiftSettings: strict),
    .testTarget(
      name: "FuzzReplayTests", dependencies: ["FuzzTargets", "RTCPrimitives"], swiftSettings: strict),
    .target(name: "FeatureKit", path: "Tests/FeatureKit", swiftSettings: strict),
    .target(name: "SDPKit", path: "Tests/SDPKit", swiftSettings: strict),
    .testTarget(name: "RTCPrimitivesTests", dependencies: ["RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(name: "RTCMediaTests", dependencies: ["RTCMedia", "RTCPrimitives", "CLinux"], swiftSettings: strict),
    .testTarget(
      name: "RTCWireTests", dependencies: ["RTCWire", "RTCPrimitives", "SDPKit"], swiftSettings: strict),
    .testTarget(
      name: "RTCICETests", dependencies: ["RTCICE", "RTCWire", "RTCPrimitives", "RTCTestKit"], swiftSettings: strict),
    .testTarget(name: "RTCDTLSTests", dependencies: ["RTCDTLS", "RTCPrimitives"], swiftSettings: strict),
    // libsrtp2, which others have, to test ours against and measure it beside.
    .systemLibrary(
      name: "CSRTP", path: "Tests/CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    .target(
      name: "LibSRTPKit", dependencies: ["CSRTP", "RTCPrimitives"], path: "Tests/LibSRTPKit", swiftSettings: strict),
    .testTarget(
      name: "RTCSRTPTests", dependencies: ["RTCSRTP", "RTCPrimitives", "LibSRTPKit"],
      swiftSettings: strict),
    // usrsctp, Firefox's SCTP, as a peer to test ours against. Its clock, random numbers and state are taken in hand there.
    .target(name: "CUsrsctp", path: "Tests/CUsrsctp", linkerSettings: [.linkedLibrary("usrsctp")]),
    .target(
      name: "UsrsctpKit", dependencies: ["CUsrsctp", "RTCPrimitives"], path: "Tests/UsrsctpKit",
      swiftSettings: strict),
    .testTarget(
      name: "RTCSCTPTests",
      dependencies: ["RTCSCTP", "RTCWire", "RTCPrimitives", "RTCTestKit", "FuzzSCTPBody", "UsrsctpKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCEngineTests",
      dependencies: [
        "RTCSRTP",
        "RTCEngine", "RTCTestKit", "RTCICE", "RTCDTLS", "RTCSCTP", "RTCMedia", "RTCWire", "RTCPrimitives", "SDPKit",
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
      dependencies: [
        "RTCPeer", "RTCEngine", "RTCNet", "RTCSCTP", "RTCMedia", "RTCTestKit", "RTCPrimitives", "ProcessKit",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "DataChannelProbe", dependencies: ["RTCPeer", "RTCEngine", "RTCSCTP"], path: "Tests/DataChannelProbe",
      swiftSettings: strict),
    .executableTarget(
      name: "CallProbe", dependencies: ["RTCast", "RTCCapture"], path: "Tests/CallProbe", swiftSettings: strict),
    .executableTarget(
      name: "InteropPeer", dependencies: ["RTCPeer", "RTCEngine", "RTCSCTP"], path: "Tests/InteropPeer",
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
        "RTCCapture", "RTCCaptureFile", "RTCCodecFFmpeg", "RTCCodecVPX", "RTCIsolation", "RTCMedia", "RTCPrimitives",
        "PluginHostProbe", "ProcessKit", "CFFmpeg",
      ],
      swiftSettings: strict),
    .target(
      name: "ProcessKit", dependencies: ["RTCNet", "CLinux"], path: "Tests/ProcessKit", swiftSettings: strict),
    .testTarget(name: "ProcessKitTests", dependencies: ["ProcessKit"], swiftSettings: strict),
    .target(
      name: "XvfbKit", dependencies: ["ProcessKit", "RTCMedia", "CX11"], path: "Tests/XvfbKit", swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureX11Tests",
      dependencies: ["RTCMedia", "RTCNet", "RTCCapture", "RTCCaptureX11", "RTCTestKit", "XvfbKit", "ProcessKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCaptureCameraTests", dependencies: ["RTCCaptureCamera", "RTCMedia", "RTCPrimitives", "RTCTestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCWindowTests",
      dependencies: ["RTCWindow", "RTCMedia", "RTCPrimitives", "RTCCaptureX11", "RTCTestKit", "XvfbKit"],
      swiftSettings: strict),
    .executableTarget(
      name: "PluginHostProbe",
      dependencies: ["RTCCaptureFile", "RTCCapturePlugin", "RTCIsolation", "RTCMedia", "RTCNet", "RTCast", "CLinux"],
      path: "Tests/PluginHostProbe", swiftSettings: strict),
    .testTarget(
      name: "RTCIsolationTests",
      dependencies: [
        "CodingKit", "PluginHostProbe", "ProcessKit", "RTCCodecAOM", "RTCCodecOpus", "RTCCodecVPX", "RTCCodecX264",
        "RTCIsolation",
        "RTCMedia", "RTCNet", "RTCPrimitives", "RTCast", "CLinux",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCapturePluginTests",
      dependencies: [
        "RTCCapturePlugin", "RTCIsolation", "PluginHostProbe", "RTCMedia", "RTCPrimitives", "ProcessKit", "CLinux",
      ],
      exclude: ["Plugins"], swiftSettings: strict),
    .testTarget(
      name: "RTCAudioTests", dependencies: ["RTCAudio", "RTCMedia", "RTCPrimitives", "ProcessKit"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCResampleTests", dependencies: ["RTCResample", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCConvertTests", dependencies: ["RTCConvert", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    // An encoder, a decoder and a page to show, for the tests of what RTCVideoCoding encodes.
    .target(
      name: "CodingKit", dependencies: ["RTCVideoCoding", "RTCCodecFFmpeg", "RTCMedia", "RTCPrimitives"],
      path: "Tests/CodingKit", swiftSettings: strict),
    .testTarget(
      name: "RTCCodecAOMTests",
      dependencies: ["CodingKit", "RTCCodecAOM", "RTCMedia", "RTCPrimitives", "RTCWire"], swiftSettings: strict),
    .testTarget(
      name: "RTCCodecX264Tests",
      dependencies: ["CodingKit", "RTCCodecX264", "RTCMedia", "RTCPrimitives", "RTCWire"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCodecVPXTests", dependencies: ["RTCCodecVPX", "RTCMedia", "RTCPrimitives"],
      swiftSettings: strict),
    .testTarget(
      name: "RTCVideoCodingTests", dependencies: ["CodingKit", "RTCMedia", "RTCPrimitives", "RTCVideoCoding"],
      swiftSettings: strict),
    // Our decoders and payload formats, held to the reference encoders' and decoders' own tools.
    .testTarget(
      name: "ConformanceTests",
      dependencies: [
        "RTCEngine", "RTCCodecFFmpeg", "RTCCodecVPX", "RTCWire", "RTCMedia", "RTCPrimitives", "ProcessKit",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCCodecOpusTests", dependencies: ["RTCCodecOpus", "RTCWire", "RTCMedia"], swiftSettings: strict),
    .testTarget(
      name: "RTCCodecWebPTests", dependencies: ["RTCCodecWebP", "RTCMedia", "RTCPrimitives", "CWebP"],
      swiftSettings: strict),
    .testTarget(name: "RTCPageTests", dependencies: ["RTCPage", "RTCMedia", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCSignalingTests", dependencies: ["RTCSignaling", "RTCPrimitives"], swiftSettings: strict),
    .testTarget(
      name: "RTCSignalingNIOTests",
      dependencies: [
        "RTCPrimitives", "RTCDTLS", "RTCSignaling", "RTCSignalingNIO",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "WebSocketProbe",
      dependencies: [
        "RTCSignaling", "RTCSignalingNIO",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      path: "Tests/WebSocketProbe", swiftSettings: strict),
    .testTarget(
      name: "RTCastTests",
      dependencies: [
        "RTCast", "CodingKit", "RTCCapture", "RTCCodecVPX", "RTCCodecOpus", "RTCEngine", "RTCPage", "RTCSCTP",
        "RTCVideoCoding", "RTCWire",
        "RTCMedia", "RTCNet", "RTCPeer",
        "RTCPrimitives", "RTCSignaling", "RTCSignalingNIO", "RTCTestKit", "ProcessKit",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RTCastCLITests",
      dependencies: [
        "RTCPrimitives", "rtcast-cli", "RTCMedia", "RTCEngine", "RTCNet", "RTCPeer", "RTCSignaling", "RTCast",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
  ]
)

// What stands beside the product and looks behind what it shows to others; built on request, since nobody else wants it.

/// The program of all fuzzers, linked with libFuzzer. Our own targets are compiled with its instrumentation, the product's
/// also with a call at every edge, by which `CFuzzCost` counts steps. Encoders are not, as nobody else's bytes reach them.
if Context.environment["RTCAST_FUZZ"] != nil {
  let encoders = [
    "RTCVideoCoding", "RTCCodecAOM", "RTCCodecOpus", "RTCCodecVPX", "RTCCodecWebP", "RTCCodecX264", "RTCConvert",
    "RTCResample",
  ]
  for target in package.targets where target.type == .regular && !encoders.contains(target.name) {
    let isBody = target.name.hasPrefix("Fuzz")
    guard isBody || target.name.lowercased().hasPrefix("rtc") else { continue }
    let steps = isBody || target.name == "RTCTestKit" ? [] : ["-Xllvm", "-sanitizer-coverage-trace-pc"]
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"] + steps)]
  }
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Fuzz/Sources/CLibFuzzer"),
    .target(name: "CFuzzCost", path: "Fuzz/Sources/CFuzzCost"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CFuzzCost", "CLibFuzzer", "FuzzTargets"], path: "Fuzz/Sources/Fuzz",
      swiftSettings: strict,
      linkerSettings: [
        .unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld", "-Xlinker", "--wrap=__sanitizer_cov_trace_pc"])
      ]),
  ]
}

/// Measurements, run by hand and before a release.
func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Benchmarks/Sources/\(name)",
    swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")])
}

if Context.environment["RTCAST_BENCHMARKS"] != nil {
  package.targets += [
    // Counts calls of malloc and its kin; must be linked into the executable that is measured.
    .target(name: "CAllocationCount", path: "Benchmarks/Sources/CAllocationCount"),
    .target(
      name: "Metering", dependencies: ["CAllocationCount"], path: "Benchmarks/Sources/Metering",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    benchmark(
      "SendPathBenchmark", ["Metering", "RTCEngine", "RTCMedia", "RTCNet", "RTCPrimitives", "RTCSRTP", "RTCTestKit"]),
    benchmark(
      "ReceivePathBenchmark",
      ["Metering", "RTCEngine", "RTCMedia", "RTCPrimitives", "RTCSRTP", "RTCTestKit", "RTCWire"]),
    benchmark("SRTPBenchmark", ["LibSRTPKit", "Metering", "RTCPrimitives", "RTCSRTP"]),
    benchmark("DescriptionBenchmark", ["RTCDTLS", "RTCEngine", "RTCPrimitives", "RTCSCTP", "RTCWire"]),
    benchmark("Congestion", ["RTCPrimitives", "RTCTestKit"]),
    benchmark("DataChannelBenchmark", ["RTCEngine", "RTCPeer", "RTCSCTP"]),
    benchmark(
      "ViewersBenchmark",
      ["RTCEngine", "RTCMedia", "RTCNet", "RTCPeer", "RTCPrimitives", "RTCSignaling", "RTCSignalingNIO"]),
    benchmark(
      "SoundBenchmark",
      ["RTCAudio", "RTCCodecOpus", "RTCEngine", "RTCMedia", "RTCNet", "RTCPlayout", "RTCPrimitives"]),
    benchmark(
      "EncoderBenchmark",
      ["RTCast", "RTCCodecAOM", "RTCCodecFFmpeg", "RTCCodecVPX", "RTCCodecX264", "RTCMedia", "RTCPrimitives"]),
    benchmark(
      "DecoderBenchmark",
      ["RTCast", "RTCCodecAOM", "RTCCodecVPX", "RTCCodecX264", "RTCIsolation", "RTCMedia", "RTCPrimitives"]),
    benchmark(
      "PictureBenchmark", ["RTCCapture", "RTCCodecVPX", "RTCConvert", "RTCMedia", "RTCPage", "RTCPrimitives"]),
  ]
}

// Any test may declare the features that it proves.
for target in package.targets where target.type == .test { target.dependencies.append("FeatureKit") }
