import Glibc
import RTCCapturePlugin
import RTCIsolation

// Each command's needs of this machine: the right of each option that names a file or a device.

extension CastingCommand {
  var sandbox: SandboxOptions { cast.output.run.sandbox }
}

extension CastOptions {
  func state(_ needs: inout SandboxNeeds) {
    media.state(&needs)
    network.state(&needs)
    viewers.token.state(&needs)
    viewers.access.state(&needs)
    needs.sockets += [viewers.listen.socketPath].compactMap(\.self)
    needs.record(output.recording)
    needs.logRates(output.rateLog.path)
    output.control.state(&needs)
    // Used and revoked links are stored beside the secret.
    let hasSecret =
      viewers.token.isGiven || getenv("RTCAST_TOKEN") != nil || media.preset?.token != nil
      || ConfigurationFiles.current.token != nil
    if destination.to == nil, hasSecret, !viewers.access.isOpen { needs.keepsState = true }
    if case .hub? = destination.to { needs.receives(showing: !destination.hub.hidesWindow) }
  }
}

extension TestCommand {
  func state(_ needs: inout SandboxNeeds) { cast.state(&needs) }
}

extension ScreenCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    needs.waitsForDisplay = waits
    needs.show(screen)
  }
}

extension RunCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    needs.usesDisplay = true
    if cast.media.audio != .silence { needs.usesSound = true }
  }
}

extension FileCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    needs.reads.append(path)
    needs.readsMedia = true
  }
}

extension CameraCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    needs.use(camera: device)
  }
}

extension PipeCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    if let socket = input.socket { needs.sockets.append(socket) }
  }
}

extension PluginCommand {
  func state(_ needs: inout SandboxNeeds) {
    cast.state(&needs)
    needs.reads += PluginSearch.ofEnvironment.folders.map(Optional.some)
    guard let path = try? PluginSearch.ofEnvironment.path(of: plugin) else { return }
    if hosting.isolate || hosting.showsOptions {
      needs.reads.append(path)
      needs.isolatedPlugins = [path] + (needs.isolatedPlugins ?? [])
    } else {
      needs.plugin = (path, hosting.options.map(\.value))
      // A plugin may read its pictures and sound from anywhere.
      needs.usesDisplay = true
      needs.usesSound = true
      needs.usesCameras = true
    }
  }
}

extension CallCommand: ConfinedCommand {
  var sandbox: SandboxOptions { output.run.sandbox }

  func state(_ needs: inout SandboxNeeds) {
    media.state(&needs)
    network.state(&needs)
    connection.token.state(&needs)
    needs.record(output.recording)
    needs.logRates(output.rateLog.path)
    output.control.state(&needs)
    needs.receives(showing: !connection.hub.hidesWindow)
    needs.reads.append(show.file)
    if show.file != nil { needs.readsMedia = true }
    if show.screen || show.part.namesPart { needs.show(show.part) }
    if let camera = show.camera { needs.use(camera: camera) }
  }
}

extension WatchCommand: ConfinedCommand {
  var sandbox: SandboxOptions { output.run.sandbox }

  func state(_ needs: inout SandboxNeeds) {
    network.state(&needs)
    connection.token.state(&needs)
    needs.record(output.recording)
    needs.receives(showing: !connection.hub.hidesWindow)
  }
}

extension ServeCommand: ConfinedCommand {
  var sandbox: SandboxOptions { output.sandbox }

  func state(_ needs: inout SandboxNeeds) {
    network.state(&needs)
    token.state(&needs)
    access.state(&needs)
    needs.sockets += [listen?.socketPath].compactMap(\.self)
    control.stateSocket(&needs)
    needs.rereads.append(tokens)
    needs.reads += [turn.secretFile, cluster.passwordFile]
    needs.keepsState = true
    // For the page that shows all streams.
    needs.decodes = true
  }
}

extension LinkCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    token.state(&needs)
    needs.reads.append(StateFolder.path)
  }
}

extension CtlCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    needs.usesLocalSockets = true
    needs.reads.append(ControlPath.folder)
  }
}

extension ConfigCommand: ConfinedCommand {
  // Its files were read with the command line.
  func state(_ needs: inout SandboxNeeds) {}
}

extension ListCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    token.state(&needs)
    needs.usesDisplay = true
    needs.usesSound = true
    needs.usesCameras = true
    let search = PluginSearch.ofEnvironment
    needs.reads += search.folders.map(Optional.some)
    needs.isolatedPlugins = search.plugins().map(\.path)
  }
}

extension DoctorCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    network.state(&needs)
    token.state(&needs)
    needs.receives(showing: true)
  }
}

extension RTCLogCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    if file != "-" { needs.reads.append(file) }
    guard let picture else { return }
    needs.outputs.append(LauncherDuties.Output(path: picture, flags: Self.flags, mode: Self.mode))
  }
}

// MARK: - Options that several commands share

extension MediaOptions {
  func state(_ needs: inout SandboxNeeds) {
    if choosesCodec { needs.keepsState = true }
    needs.rereads.append(presetName.flatMap { $0.contains("/") || $0.hasSuffix(".json") ? $0 : nil })
    switch audio {
    case .desktop, .microphone, .device, .program, .sum: needs.usesSound = true
    case .own, .silence, nil: break
    }
  }
}

extension NetworkOptions {
  func state(_ needs: inout SandboxNeeds) { needs.reads.append(iceServerFile) }
}

extension TokenOptions {
  func state(_ needs: inout SandboxNeeds) { needs.rereads.append(tokenFile) }
}

extension AccessOptions {
  func state(_ needs: inout SandboxNeeds) {
    needs.rereads += [tlsCert, tlsKey]
    needs.audit(audit)
    if tls { needs.keepsState = true }
  }
}

extension ControlOptions {
  func state(_ needs: inout SandboxNeeds) {
    stateSocket(&needs)
    guard takesCommands else { return }
    needs.takesControl = true
    needs.readsMedia = true
    needs.reads += PluginSearch.ofEnvironment.folders.map(Optional.some)
    needs.isolatedPlugins = (needs.isolatedPlugins ?? []) + PluginSearch.ofEnvironment.plugins().map(\.path)
  }

  /// Adds the control socket of a hub to its needs. The commands of a hub name no sources.
  func stateSocket(_ needs: inout SandboxNeeds) {
    guard let socket else { return }
    // A folder needs to be there before a rule can name it.
    socket.makeFolder()
    needs.sockets.append(socket.path)
  }
}

extension SandboxNeeds {
  /// Media is received, decoded, played, and shown in a window.
  mutating func receives(showing: Bool) {
    decodes = true
    usesSound = true
    if showing { usesDisplay = true }
  }

  /// The screen is captured.
  mutating func show(_ screen: ScreenOptions) {
    usesDisplay = true
    // The token of the desktop portal is stored.
    let mayBeWayland = Desktop.isSet("WAYLAND_DISPLAY") || screen.waylandBackend != nil || waitsForDisplay
    if !screen.namesX11, mayBeWayland { keepsState = true }
  }

  mutating func use(camera: String?) {
    usesCameras = true
    if let camera, camera.contains("/") { devices.append(camera) }
  }
}
