# Written by scripts/package-recipes from packaging/manifest.json; change that file.
{
  description = "Cast a screen, a window or a file to web browsers by WebRTC";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = body: nixpkgs.lib.genAttrs systems (system: body nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "rtcast";
          version = "0.1.0";
          src = ../..;
          nativeBuildInputs = with pkgs; [ swift swiftpm pkg-config python3 binutils ];
          buildInputs = with pkgs; [
            openssl
            libaom
            libvpx
            libwebp
            x264
            libyuv
            xorg.libxcb
            qrencode
            zlib
            ffmpeg
            libopus
            speexdsp
            libpulseaudio
            SDL2
            wayland
            pipewire
            systemd
          ];
          buildPhase = "swift build -c release --product rtcast";
          installPhase = "scripts/package --program .build/release/rtcast --stage $out --prefix . rtcast";
          meta = {
            description = "Cast a screen, a window or a file to web browsers by WebRTC";
            license = with pkgs.lib.licenses; [ asl20 gpl2Plus ];
            platforms = systems;
            mainProgram = "rtcast";
          };
        };
      });
    };
}
