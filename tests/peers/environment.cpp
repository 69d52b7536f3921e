#include "peer_environment.hpp"

#include <algorithm>

#include "catch.hpp"

TEST_CASE("libraries are told what is asked, whatever the environment holds already") {
    char const* const held[] = {"HOME=/root",
                                "OPENBLAS_CORETYPE=Zen",
                                "OMP_NUM_THREADS=2",
                                "ONEDNN_MAX_CPU_ISA=AVX",
                                "DNNL_MAX_CPU_ISA=AVX",
                                "BLIS_IC_NT=2",
                                "PATH=/usr/bin",
                                "OMPI=kept",
                                nullptr};
    std::vector<std::string> made = peers::environment_for_peers(held, {{"OPENBLAS_CORETYPE", "Haswell"}, {"OMP_NUM_THREADS", "1"}});
    std::sort(made.begin(), made.end());
    CHECK(made == std::vector<std::string>{"HOME=/root", "OMPI=kept", "OMP_NUM_THREADS=1", "OPENBLAS_CORETYPE=Haswell", "PATH=/usr/bin"});
}
