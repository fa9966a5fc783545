// Branches by a list with commas, which may hold patterns; all where it is empty.
#include <TTree.h>

#include <sstream>
#include <string>

inline void choose(TTree* tree, const char* branches) {
    std::string list = branches, branch;
    if (list.empty()) return;
    tree->SetBranchStatus("*", false);
    std::stringstream names(list);
    while (std::getline(names, branch, ',')) tree->SetBranchStatus(branch.c_str(), true);
}
