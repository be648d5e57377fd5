# docker buildx bake --push: the image for amd64 and arm64, with provenance and a list of what is in it.
variable "IMAGE" {
  default = "ghcr.io/stowage/stowage"
}

variable "VERSION" {
  default = "0.1.0"
}

variable "REVISION" {
  default = ""
}

group "default" {
  targets = ["stowage"]
}

target "stowage" {
  context    = "."
  dockerfile = "Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  tags       = ["${IMAGE}:${VERSION}"]
  attest     = ["type=provenance,mode=max", "type=sbom"]
  labels = {
    "org.opencontainers.image.title"       = "Stowage"
    "org.opencontainers.image.description" = "Where each replica of a Kubernetes workload runs, how big it is, and what share of its node's CPU it gets."
    "org.opencontainers.image.licenses"    = "Apache-2.0"
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
  }
}

# For a look on this machine: docker buildx bake local.
target "local" {
  inherits  = ["stowage"]
  platforms = []
  attest    = []
  output    = ["type=docker"]
}
