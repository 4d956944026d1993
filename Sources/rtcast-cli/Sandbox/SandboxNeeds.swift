import Glibc
import RTCCapturePlugin
import RTCIsolation

/// A confined command's needs of this machine, besides the network and the libraries of the system.
struct SandboxNeeds {
  /// Files that the command line names, to be read.
  var reads: [String?] = []
  /// Files that it names, to be made.
  var outputs: [LauncherDuties.Output] = []
  /// Files that it names and that a service reads again when it is told to.
  var rereads: [String?] = []
  /// The state folder is read and written.
  var keepsState = false
  /// Sources that are named later, by `--control`.
  var takesControl = false
  /// The sound server.
  var usesSound = false
  /// An X or Wayland display.
  var usesDisplay = false
  /// The display may appear later, with a new file of keys.
  var waitsForDisplay = false
  var usesCameras = false
  /// Devices that the command line names.
  var devices: [String] = []
  /// Sockets that are made at these paths, for other programs.
  var sockets: [String] = []
  /// Sockets of other programs are connected to.
  var usesLocalSockets = false
  /// Received media is decoded, in processes.
  var decodes = false
  /// Files are read and decoded, in processes.
  var readsMedia = false
  /// A plugin that is loaded here, and files that its options name.
  var plugin: (path: String, options: [String])?
  /// The plugins that processes may be started for.
  var isolatedPlugins: [String]?

  /// The tasks of the launcher.
  var duties: LauncherDuties {
    var duties = LauncherDuties()
    duties.outputs = outputs
    if waitsForDisplay { duties.keys = DisplayKeys.files }
    if decodes {
      duties.roles.append(
        LauncherDuties.Role(name: DecoderHostCommand.name, environment: IsolatedDecoders.environment))
    }
    if readsMedia {
      duties.roles.append(
        LauncherDuties.Role(name: FileHostCommand.name, environment: IsolatedDecoders.environment))
    }
    if let isolatedPlugins {
      // The launcher names the plugins and cannot be persuaded otherwise, as the rest of the program may be
      // compromised.
      duties.roles.append(
        LauncherDuties.Role(
          name: PluginHostCommand.name, arguments: ["--only", "--"] + isolatedPlugins,
          environment: PluginEnvironment.variables()))
    }
    return duties
  }

  /// The rules of the sandbox.
  var rules: SandboxRules {
    var rules = SandboxRules()
    rules.allow(.read, SystemFiles.libraries + SystemFiles.namedByEnvironment)
    rules.allow(.use, SystemFiles.devices)
    rules.allow(.read, (reads + rereads).compactMap(\.self))
    if ServiceNotifier.current != nil { rules.allow(.read, Self.folders(ofReplaced: rereads.compactMap(\.self))) }
    if keepsState, let folder = try? StateFolder.make() { rules.allow(.keep, folder) }
    if usesSound || usesDisplay || takesControl {
      rules.allowsLocalSockets = true
      rules.allow(.read, SystemFiles.ofSession)
      rules.allow(.use, SystemFiles.graphics)
      rules.allow(.keep, "/dev/shm")
    }
    if usesCameras || takesControl { rules.allow(.use, SystemFiles.cameras + devices) }
    if takesControl { rules.allow(.read, SystemFiles.allButHidden) }
    if !sockets.isEmpty || usesLocalSockets { rules.allowsLocalSockets = true }
    rules.allow(.makeSockets, sockets.map { Self.folder(of: $0) })
    if let plugin {
      rules.allowsLocalSockets = true
      rules.allow(.read, [plugin.path] + plugin.options.filter { $0.contains("/") })
      rules.allow(.read, [Self.folder(of: plugin.path)].filter { !SystemFiles.holdsHome($0) })
    }
    return rules
  }

  /// A file is replaced by another one of its name, and a link by one to another file, so that the right to read this file
  /// would not be enough. Of the user's home folder, only the files themselves.
  private static func folders(ofReplaced paths: [String]) -> [String] {
    (paths + paths.compactMap(SystemFiles.resolved)).map(folder).filter { !SystemFiles.holdsHome($0) }
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }
}
