/// The presets of the `presets` folder, in the program. Written by `scripts/embed-presets`; change the files there.
enum BuiltInPresets {
  static let all: [(name: String, json: String)] = [
    (
      "text",
      #"""
      {
        "title": "Text",
        "description": "Code, documents, terminals: every letter sharp, a few pictures a second.",
        "fps": 5,
        "contentHint": "text",
        "video": { "startBitrate": 1500000, "maxBitrate": 6000000 }
      }

      """#
    ),
    (
      "slides",
      #"""
      {
        "title": "Slides",
        "description": "A talk with slides: sharp at rest, quick to turn the page, with sound.",
        "fps": 10,
        "contentHint": "detail",
        "video": { "startBitrate": 2000000, "maxBitrate": 6000000 },
        "audio": { "maxBitrate": 64000, "startBitrate": 48000 }
      }

      """#
    ),
    (
      "motion",
      #"""
      {
        "title": "Motion",
        "description": "Games, films on the screen, animations: keep the pictures flowing.",
        "fps": 30,
        "contentHint": "motion",
        "video": { "startBitrate": 3000000, "maxBitrate": 8000000 },
        "audio": { "maxBitrate": 128000, "startBitrate": 96000 }
      }

      """#
    ),
    (
      "file",
      #"""
      {
        "title": "File",
        "description": "A video file with its own sound, up to 60 pictures a second.",
        "fps": 60,
        "contentHint": "motion",
        "audioSource": "source",
        "video": { "startBitrate": 4000000, "maxBitrate": 10000000 },
        "audio": { "maxBitrate": 128000, "startBitrate": 128000 }
      }

      """#
    ),
    (
      "call",
      #"""
      {
        "title": "Call",
        "description": "Showing something while talking about it: modest rates that leave room for the talk.",
        "fps": 15,
        "contentHint": "detail",
        "size": "1920x1080",
        "connectionTimeout": 30,
        "video": {
          "minBitrate": 100000,
          "maxBitrate": 3000000,
          "startBitrate": 800000,
          "bitrateStepUp": 0.15,
          "bitrateStepDown": 0.15,
          "bitrateStepCriticalDown": 0.5,
          "criticalPacketLossThreshold": 0.1,
          "highPacketLossThreshold": 0.05,
          "lowPacketLossThreshold": 0.01
        },
        "audio": { "minBitrate": 6000, "maxBitrate": 48000, "startBitrate": 32000 }
      }

      """#
    ),
    (
      "low-bandwidth",
      #"""
      {
        "title": "Low bandwidth",
        "description": "A mobile phone's network or a crowded one: small pictures, few of them, little sound.",
        "fps": 3,
        "contentHint": "detail",
        "size": "1280x720",
        "video": {
          "minBitrate": 50000,
          "maxBitrate": 400000,
          "startBitrate": 200000,
          "bitrateStepUp": 0.1,
          "bitrateStepDown": 0.25,
          "bitrateStepCriticalDown": 0.5
        },
        "audio": { "minBitrate": 6000, "maxBitrate": 24000, "startBitrate": 16000 }
      }

      """#
    ),
    (
      "lan",
      #"""
      {
        "title": "LAN",
        "description": "A fast local network: sharp, fluent, generous.",
        "fps": 30,
        "contentHint": "detail",
        "video": { "minBitrate": 1000000, "maxBitrate": 40000000, "startBitrate": 20000000 },
        "audio": { "maxBitrate": 192000, "startBitrate": 160000 }
      }

      """#
    ),
  ]
}
